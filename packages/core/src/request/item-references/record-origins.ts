import { isSameRecord, storedIdOf } from '@signalbox/dialects/common'
import type { InferenceRequest, Item } from '@signalbox/dialects/protocol'
import { estimateMemory, originalOf, remember } from '@signalbox/dialects/protocol'
import { type Caller, itemOwnerOf } from '../../access/caller.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { orStoreDown } from '../../runtime/store-down.ts'
import type { ReferencePorts } from './resolve-references.ts'

const opensStored = (item: Item): boolean => storedIdOf(item) !== undefined

/**
 * Marks records that open something stored at a provider and are not among the kept items of the caller: they may name what belongs to
 * another one. Returns the request itself if there are none.
 */
export function* markUnknownRecords(
  { items, claimMemory }: ReferencePorts,
  request: InferenceRequest,
  caller: Caller,
): Step<InferenceRequest> {
  const { input } = request.prompt
  const ids = input.flatMap(item => (item.type === 'native' && opensStored(item) && typeof item.body.id === 'string' ? [item.body.id] : []))
  if (!input.some(opensStored)) return request
  const kept = items && ids.length > 0 ? yield* wait(orStoreDown(() => items.find(itemOwnerOf(caller), [...new Set(ids)]))) : undefined
  if (kept) claimMemory?.(estimateMemory([...kept.values()]))
  const unknownOrigin = caller.isEndUser && !caller.providerStorage ? 'refused' : 'allowed'
  const marked = input.map(item => {
    if (item.type !== 'native' || !opensStored(item)) return item
    const { id } = item.body
    return typeof id === 'string' && isSameRecord(item, kept?.get(id)) ? item : remember<Item>({ ...item, unknownOrigin }, originalOf(item))
  })
  return remember({ ...request, prompt: { ...request.prompt, input: marked } }, originalOf(request))
}
