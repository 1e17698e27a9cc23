"""The founding fault, with real torch and FlashInfer on a machine without a GPU. Run: pytest -m cuda tests/cuda"""
