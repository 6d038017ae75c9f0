/**
 * The writer's cache of event ids: for the whole server, first in first out, bounded in bytes, empty
 * after a restart. While an id is in the cache it belongs to the first stream that used it.
 */
export const recentIdsBytesMax = 8 * 1024 * 1024

interface Place {
  readonly stream: string
  readonly revision: number
}

const bytesOf = (place: Place): number => 28 + 2 * place.stream.length

export class RecentIds {
  private readonly places = new Map<string, Place>()
  private queue: Array<string> = []
  private oldest = 0
  private bytes = 0

  constructor(readonly bytesMax = recentIdsBytesMax) {}

  readonly put = (id: string, stream: string, revision: number): void => {
    while (this.bytes > this.bytesMax && this.oldest < this.queue.length) this.forgetOldest()
    const place = { stream, revision }
    this.bytes += bytesOf(place)
    this.queue.push(id)
    if (!this.places.has(id)) this.places.set(id, place)
  }

  readonly find = (id: string, stream: string): number | undefined => {
    const place = this.places.get(id)
    return place?.stream === stream ? place.revision : undefined
  }

  readonly clear = (): void => {
    this.places.clear()
    this.queue = []
    this.oldest = 0
    this.bytes = 0
  }

  private forgetOldest(): void {
    const id = this.queue[this.oldest] as string
    this.oldest += 1
    if (this.oldest > 65_536) {
      this.queue = this.queue.slice(this.oldest)
      this.oldest = 0
    }
    const place = this.places.get(id)
    if (place === undefined) return
    this.bytes -= bytesOf(place)
    this.places.delete(id)
  }
}
