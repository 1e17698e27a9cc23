/* A libnvidia-ml.so.1 for tests. At every call it reads the file that NVML_STUB names:

     error CODE                       what nvmlInit returns
     gpus COUNT MIB                   so many GPUs of so much memory
     process GPU PID MIB LINGER       a process on a GPU; MIB -1: "not available"

   LINGER is how many milliseconds its memory stays after this library first saw the process gone; -1 for ever.
   Written for these tests after NVIDIA's public nvml.h; it holds what nvidia-ml-py calls for us and nothing more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, INSUFFICIENT_SIZE = 7 };
enum { MOST = 64 };

struct device { unsigned index; };
struct memory { unsigned long long total, free, used; };
struct process { unsigned pid; unsigned long long used; unsigned instance, compute; };
struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char name[32]; };

static struct device devices[MOST];
static struct { unsigned pid; double gone; } departed[MOST];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* A zombie has let go of its memory like one that is gone. */
static int is_alive(unsigned pid) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    int told = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return told == 1 && state != 'Z' && state != 'X';
}

static double since_gone(unsigned pid) {
    int i = 0;
    while (i < MOST - 1 && departed[i].pid && departed[i].pid != pid) i++;
    if (!departed[i].pid) departed[i].pid = pid, departed[i].gone = now();
    return now() - departed[i].gone;
}

static int described(unsigned *count, unsigned long long *mib, int gpu, struct process *found, unsigned *many) {
    unsigned error = 0, g, pid, all = 0;
    long long much, linger;
    char line[256];
    const char *path = getenv("NVML_STUB");
    FILE *file = path ? fopen(path, "r") : NULL;
    *count = 0, *mib = 0;
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "error %u", &error);
        sscanf(line, "gpus %u %llu", count, mib);
        if (sscanf(line, "process %u %u %lld %lld", &g, &pid, &much, &linger) != 4 || (int)g != gpu) continue;
        if (!is_alive(pid) && linger >= 0 && since_gone(pid) >= linger) continue;
        if (found && all < *many) {
            found[all].pid = pid, found[all].instance = found[all].compute = ~0u;
            found[all].used = much < 0 ? ~0ULL : (unsigned long long)much << 20;
        }
        all++;
    }
    if (file) fclose(file);
    *many = all;
    return error;
}

EXPORT int nvmlInitWithFlags(unsigned flags) {
    unsigned count, many = 0;
    unsigned long long mib;
    return described(&count, &mib, -1, NULL, &many);
}
EXPORT int nvmlShutdown(void) { return SUCCESS; }
EXPORT const char *nvmlErrorString(int code) {
    return code == 18 ? "Driver/library version mismatch" : "error of the stub";
}
EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
    unsigned many = 0;
    unsigned long long mib;
    return described(count, &mib, -1, NULL, &many);
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device) {
    if (index >= MOST) return INVALID_ARGUMENT;
    devices[index].index = index;
    *device = &devices[index];
    return SUCCESS;
}
EXPORT int nvmlDeviceGetUUID(struct device *device, char *text, unsigned size) {
    snprintf(text, size, "GPU-57ab0000-0000-4000-8000-%012u", device->index);
    return SUCCESS;
}
EXPORT int nvmlDeviceGetName(struct device *device, char *text, unsigned size) {
    snprintf(text, size, "Stub GPU");
    return SUCCESS;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor) {
    *major = 12, *minor = 0;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci) {
    memset(pci, 0, sizeof *pci);
    snprintf(pci->name, sizeof pci->name, "00000000:%02X:00.0", device->index + 1);
    return SUCCESS;
}
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    snprintf(text, size, "580.95.05");
    return SUCCESS;
}
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = 13000;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory) {
    struct process found[MOST];
    unsigned count, many = MOST;
    unsigned long long mib;
    int code = described(&count, &mib, device->index, found, &many);
    memory->total = mib << 20, memory->used = 0;
    for (unsigned i = 0; i < many && i < MOST; i++)
        if (found[i].used != ~0ULL) memory->used += found[i].used;
    memory->free = memory->total - memory->used;
    return code;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *size, struct process *found) {
    unsigned count, many = found ? *size : 0;
    unsigned long long mib;
    int code = described(&count, &mib, device->index, found, &many);
    int fits = many <= (found ? *size : 0);
    *size = many;
    return code ? code : fits ? SUCCESS : INSUFFICIENT_SIZE;
}
EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(struct device *device, unsigned *size, struct process *found) {
    *size = 0;
    return SUCCESS;
}
