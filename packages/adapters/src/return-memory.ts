/** A smaller heap, in bytes, has little to return. */
const heapMin = 128 * 2 ** 20
/** A collection takes about 1.4 ms for each MiB that stays. So with more than this in use, in bytes, it would keep a server from its work for too long. */
const usedMax = 400 * 2 ** 20

/**
 * Collects the garbage of this thread, so that V8 returns memory to the operating system, also that for young objects. For a server that has read its
 * log: most of what that made is garbage, and V8 would collect it only when as much again is needed. The figures are in ADR 52.
 *
 * Resolves to whether it did; not with a small heap, or one in which much is in use.
 */
export const returnMemory = async (): Promise<boolean> => {
  const { heapTotal, heapUsed } = process.memoryUsage()
  if (heapTotal < heapMin || heapUsed > usedMax) return false
  try {
    // `gc()`, which Node has with an option, keeps all room for young objects.
    const { Session } = await import('node:inspector/promises')
    const session = new Session()
    session.connect()
    await session.post('HeapProfiler.collectGarbage')
    session.disconnect()
    return true
  } catch {
    // A Node that was built without the inspector. It needs more memory, and works as well.
    return false
  }
}
