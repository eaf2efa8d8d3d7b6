/*
 * A Vulkan layer for tests: software devices that look like equal graphics cards. The i-th
 * device that the drivers name gets the i-th bus number of GRADWIRE_TEST_BUSES (hexadecimal,
 * "41,3b"), all in the PCI domain GRADWIRE_TEST_DOMAIN (hexadecimal). For every device that
 * is opened the file GRADWIRE_TEST_OPENED gets a line with the process's id and the bus
 * number.
 *
 * Vulkan's headers need not be installed: here are the declarations that it uses, those of
 * Vulkan 1.1 and of version 2 of the loader's interface to layers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 8

enum { SUCCESS = 0, FAILED = -3 };
enum { LOADER_INSTANCE_INFO = 47, LOADER_DEVICE_INFO = 48, LINK_INFO = 0 };
enum { PCI_BUS_INFO_PROPERTIES = 1000212000 };
enum { DISCRETE_GPU = 2 };

typedef void (*Function)(void);
typedef Function (*GetProc)(void *, const char *);

struct Chained {
  uint32_t type;
  struct Chained *next;
};
struct Link {
  struct Link *next;
  GetProc getInstanceProc;
  GetProc getOtherProc;
};
struct LoaderInfo {
  uint32_t type;
  struct LoaderInfo *next;
  uint32_t function;
  struct Link *link;
};
struct Properties {
  uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType;
  char deviceName[256];
};
struct Properties2 {
  uint32_t type;
  struct Chained *next;
  struct Properties properties;
};
struct PciBusInfo {
  uint32_t type;
  struct Chained *next;
  uint32_t domain, bus, device, function;
};
struct Extension {
  char name[256];
  uint32_t version;
};
struct Negotiation {
  uint32_t type;
  void *next;
  uint32_t version;
  GetProc getInstanceProc, getDeviceProc, getPhysicalDeviceProc;
};

typedef int32_t Create(const void *, const void *, void **);
typedef int32_t CreateFrom(void *, const void *, const void *, void **);
typedef int32_t Enumerate(void *, uint32_t *, void **);
typedef void GetProperties(void *, struct Properties *);
typedef void GetProperties2(void *, struct Properties2 *);
typedef int32_t GetExtensions(void *, const char *, uint32_t *, struct Extension *);

static GetProc nextInstanceProc, nextDeviceProc;
static void *instance;
/* Of the drivers; asked for later, the loader would name this layer's. */
static Enumerate *nextEnumerate;
static GetProperties *nextProperties;
static GetProperties2 *nextProperties2;
static GetExtensions *nextExtensions;

static void *devices[MOST];
static uint32_t deviceCount;

/* 0: no card. */
static unsigned busOf(void *device) {
  const char *text = getenv("GRADWIRE_TEST_BUSES");
  for (uint32_t i = 0; text != NULL; i++) {
    if (i < deviceCount && devices[i] == device) return strtoul(text, NULL, 16);
    text = strchr(text, ',');
    if (text != NULL) text++;
  }
  return 0;
}

/* What comes after this layer, taken from the chain that the loader hands on. */
static struct Link *takeLink(const struct Chained *info, uint32_t type) {
  struct LoaderInfo *loader = (struct LoaderInfo *)info->next;
  while (loader != NULL && (loader->type != type || loader->function != LINK_INFO))
    loader = loader->next;
  if (loader == NULL) return NULL;
  struct Link *link = loader->link;
  loader->link = link->next;
  return link;
}

static int32_t createInstance(const struct Chained *info, const void *allocator,
                              void **made) {
  struct Link *link = takeLink(info, LOADER_INSTANCE_INFO);
  if (link == NULL) return FAILED;
  GetProc get = nextInstanceProc = link->getInstanceProc;
  int32_t result = ((Create *)get(NULL, "vkCreateInstance"))(info, allocator, made);
  if (result != SUCCESS) return result;
  instance = *made;
  nextEnumerate = (Enumerate *)get(instance, "vkEnumeratePhysicalDevices");
  nextProperties = (GetProperties *)get(instance, "vkGetPhysicalDeviceProperties");
  nextProperties2 = (GetProperties2 *)get(instance, "vkGetPhysicalDeviceProperties2");
  nextExtensions =
      (GetExtensions *)get(instance, "vkEnumerateDeviceExtensionProperties");
  return SUCCESS;
}

static int32_t enumerate(void *of, uint32_t *count, void **list) {
  deviceCount = MOST;
  nextEnumerate(of, &deviceCount, devices);
  return nextEnumerate(of, count, list);
}

static void disguise(void *device, struct Properties *properties) {
  if (busOf(device) != 0) properties->deviceType = DISCRETE_GPU;
}

static void getProperties(void *device, struct Properties *properties) {
  nextProperties(device, properties);
  disguise(device, properties);
}

static void getProperties2(void *device, struct Properties2 *properties) {
  nextProperties2(device, properties);
  disguise(device, &properties->properties);
  for (struct Chained *at = properties->next; at != NULL; at = at->next) {
    if (at->type != PCI_BUS_INFO_PROPERTIES) continue;
    struct PciBusInfo *pci = (struct PciBusInfo *)at;
    pci->device = pci->function = 0;
    pci->bus = busOf(device);
    pci->domain = strtoul(getenv("GRADWIRE_TEST_DOMAIN"), NULL, 16);
  }
}

/* The drivers' extensions and one more. */
static int32_t getExtensions(void *device, const char *layer, uint32_t *count,
                             struct Extension *list) {
  uint32_t room = *count;
  if (list != NULL) (*count)--;
  int32_t result = nextExtensions(device, layer, count, list);
  if (list != NULL && *count < room) {
    memset(&list[*count], 0, sizeof *list);
    strcpy(list[*count].name, "VK_EXT_pci_bus_info");
    list[*count].version = 2;
  }
  (*count)++;
  return result;
}

static int32_t createDevice(void *device, const struct Chained *info,
                            const void *allocator, void **made) {
  struct Link *link = takeLink(info, LOADER_DEVICE_INFO);
  if (link == NULL) return FAILED;
  nextDeviceProc = link->getOtherProc;
  CreateFrom *next = (CreateFrom *)link->getInstanceProc(instance, "vkCreateDevice");
  int32_t result = next(device, info, allocator, made);
  const char *file = getenv("GRADWIRE_TEST_OPENED");
  FILE *opened = result == SUCCESS && file != NULL ? fopen(file, "a") : NULL;
  if (opened != NULL) {
    fprintf(opened, "%d %02x\n", (int)getpid(), busOf(device));
    fclose(opened);
  }
  return result;
}

static Function getDeviceProc(void *of, const char *name) {
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (Function)getDeviceProc;
  return nextDeviceProc(of, name);
}

static Function getInstanceProc(void *of, const char *name) {
  static const struct {
    const char *name;
    Function function;
  } own[] = {
      {"vkCreateInstance", (Function)createInstance},
      {"vkEnumeratePhysicalDevices", (Function)enumerate},
      {"vkGetPhysicalDeviceProperties", (Function)getProperties},
      {"vkGetPhysicalDeviceProperties2", (Function)getProperties2},
      {"vkGetPhysicalDeviceProperties2KHR", (Function)getProperties2},
      {"vkEnumerateDeviceExtensionProperties", (Function)getExtensions},
      {"vkCreateDevice", (Function)createDevice},
      {"vkGetInstanceProcAddr", (Function)getInstanceProc},
      {"vkGetDeviceProcAddr", (Function)getDeviceProc},
  };
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp(name, own[i].name) == 0) return own[i].function;
  return nextInstanceProc == NULL ? NULL : nextInstanceProc(of, name);
}

EXPORT int32_t vkNegotiateLoaderLayerInterfaceVersion(struct Negotiation *negotiation) {
  negotiation->version = 2;
  negotiation->getInstanceProc = getInstanceProc;
  negotiation->getDeviceProc = getDeviceProc;
  negotiation->getPhysicalDeviceProc = NULL;
  return SUCCESS;
}
