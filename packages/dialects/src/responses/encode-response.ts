import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { itemIds } from './item-ids.ts'
import { encodeItem, originalBody } from './items.ts'
import { finishedResponse } from './response-object.ts'
import { dialect } from './wire.ts'

export function encodeResponse(response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): JsonObject {
  const { outcome, usage } = response
  const idOf = itemIds(metadata.itemId, metadata.claimIdToKeep)
  const items = response.output.every(isEncodable) ? response.output : response.output.filter(isEncodable)
  const cut = outcome.status === 'completed' ? undefined : items.length - 1
  const output = items.map((item, index) => encodeItem(index === cut ? asIncomplete(item) : item, idOf(item)))
  if (outcome.status !== 'failed') metadata.keepItems?.(output)
  return finishedResponse({ request, metadata, original: originalBody(response) }, { outcome, usage, output })
}

/** Native items of another dialect are left out. */
const isEncodable = (item: Item): boolean => item.type !== 'native' || item.dialect === dialect

/** Marks the last item of a truncated response, unless its status is known. */
const asIncomplete = (item: Item): Item =>
  (item.type === 'message' || item.type === 'function_call') && item.status === undefined ? { ...item, status: 'incomplete' } : item
