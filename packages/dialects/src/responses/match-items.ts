import type { PartialItem } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import type { Item } from '../protocol/item.ts'

/**
 * Matches each item of the last snapshot with the streamed one: by id if ids are stable, otherwise (some providers change them with every
 * event) with the next of its type. Items without a match were never streamed.
 */
export function matchItems(streamed: readonly PartialItem[], snapshot: readonly Item[]): readonly (PartialItem | undefined)[] {
  const free = new Set(streamed)
  const byId = new Map(streamed.map(partial => [matchKey(partial.item) ?? partial, partial]))
  const idsAreStable = snapshot.some(item => byId.has(matchKey(item) ?? ''))
  const queues = new Map<unknown, PartialItem[]>()
  for (const partial of streamed.toReversed()) {
    const queue = queues.get(typeOf(partial.item))
    if (queue) queue.push(partial)
    else queues.set(typeOf(partial.item), [partial])
  }
  return snapshot.map(item => {
    const key = matchKey(item)
    const sameId = key === undefined ? undefined : byId.get(key)
    const found = sameId && free.has(sameId) ? sameId : idsAreStable && key !== undefined ? undefined : next(queues.get(typeOf(item)), free)
    if (found) free.delete(found)
    return found
  })
}

function next(queue: PartialItem[] | undefined, free: ReadonlySet<PartialItem>): PartialItem | undefined {
  for (let partial = queue?.pop(); partial; partial = queue?.pop()) if (free.has(partial)) return partial
  return undefined
}

const typeOf = (item: Item): string => (item.type === 'native' ? stringOf(item.body.type) : item.type)

function matchKey(item: Item): string | undefined {
  const id = item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined
  return typeof id === 'string' && id !== '' ? `${typeOf(item)}:${id}` : undefined
}
