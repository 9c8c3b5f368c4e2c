import type { InferenceEvent } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { ItemWriter } from './item-writers.ts'

// Items may overlap, content blocks may not. The first open item is written, and events of the others wait.

export type ItemEvent = Extract<InferenceEvent, { type: 'delta' | 'item_finished' | 'native' }>

export interface QueuedItem {
  readonly index: number
  readonly item: Item
  /** Set once the item is first in the queue. */
  writer: ItemWriter | undefined
  readonly waiting: ItemEvent[]
}

/** A FIFO queue. Every operation takes constant time, regardless of the number of waiting items. */
export interface ItemQueue {
  add(item: QueuedItem): void
  first(): QueuedItem | undefined
  removeFirst(): void
  find(index: number | undefined): QueuedItem | undefined
}

export function createItemQueue(): ItemQueue {
  let items: QueuedItem[] = []
  let position = 0
  const byIndex = new Map<number | undefined, QueuedItem>()
  return {
    add(item) {
      items.push(item)
      if (!byIndex.has(item.index)) byIndex.set(item.index, item)
    },
    first: () => items[position],
    removeFirst() {
      const removed = items[position]
      position += 1
      if (removed && byIndex.get(removed.index) === removed) byIndex.delete(removed.index)
      if (position === items.length) {
        items = []
        position = 0
      }
    },
    find: index => byIndex.get(index),
  }
}
