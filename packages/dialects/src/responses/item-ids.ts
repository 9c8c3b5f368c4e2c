import { imageType } from '../common/generated-image.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { Item } from '../protocol/item.ts'

const prefixes: Readonly<Record<Item['type'], string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
  native: 'item',
}

const idPrefixOf = (item: Item): string => {
  if (item.type === 'native' && item.body.type === imageType) return 'ig'
  return item.type === 'function_call' && item.custom ? 'ctc' : prefixes[item.type]
}

/** Assigns ids to the items of one response: their own, unless that is empty or taken. Clients use them as keys and in references. */
export function itemIds(itemId: ResponseMetadata['itemId'], claimId: ResponseMetadata['claimId']): (item: Item) => string {
  const taken = new Set<string>()
  return item => {
    const own = item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined
    const isFree = typeof own === 'string' && own !== '' && !taken.has(own) && claimId?.(own, item.type) !== false
    const minted = isFree ? own : itemId(item.type === 'message' || item.type === 'reasoning' ? prefixes[item.type] : idPrefixOf(item))
    const id = taken.has(minted) ? `${minted}_${taken.size}` : minted
    taken.add(id)
    return id
  }
}
