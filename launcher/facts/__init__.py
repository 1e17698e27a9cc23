"""What is here: the only code that looks at the machine; each fact carries how it was found."""
