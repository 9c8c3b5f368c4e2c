import { responsesClient } from '@signalbox/dialects/clients'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import {
  estimateMemory,
  type Item,
  type Json,
  type JsonObject,
  originalOf,
  referenceOf,
  remember,
  sealedPrefix,
} from '@signalbox/dialects/protocol'
import type { ClaimMemory } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { orStoreDown } from '../../runtime/store-down.ts'
import type { KeptItems } from './kept-items.ts'

export interface ReferencePorts {
  /** Undefined if the gateway keeps no items. */
  readonly items?: KeptItems | undefined
  /** Called with the bytes of memory of the items found. Throws to refuse them. */
  readonly claimMemory?: ClaimMemory | undefined
}

const noItems: ReadonlyMap<string, JsonObject> = new Map()

/**
 * Replaces references by the items of earlier responses, as if the client had sent them. A second reference to an item is removed.
 *
 * @throws `invalid_parameter_value` (400) for an item that is not kept.
 */
export function* resolveReferences(
  { items, claimMemory }: ReferencePorts,
  request: InferenceRequest,
  owner: string,
): Step<InferenceRequest> {
  const { input } = request.prompt
  const ids = new Set(input.flatMap(item => referenceOf(item) ?? []))
  const kept = items ? yield* wait(orStoreDown(() => items.find(owner, [...ids]))) : noItems
  claimMemory?.(estimateMemory([...kept.values()]))
  const original = originalOf(request)
  const written = original?.body.input
  const complete: Item[] = []
  const bodies: Json[] = []
  for (const [at, item] of input.entries()) {
    const id = referenceOf(item)
    if (id !== undefined && !ids.delete(id)) continue
    const place = { id, path: `input[${at}]`, kept, items }
    const found = id === undefined ? item : resolve(item, { ...place, id })
    // Reasoning without text and state is equivalent to its reference.
    if (referenceOf(found) !== undefined) continue
    complete.push(found)
    bodies.push(originalOf(found)?.body ?? (Array.isArray(written) ? (written as readonly Json[])[at] : undefined) ?? null)
  }
  const resolved = { ...request, prompt: { ...request.prompt, input: complete } }
  return remember(resolved, original && { ...original, body: { ...original.body, input: bodies } })
}

interface ReferencePlace extends ReferencePorts {
  readonly id: string
  readonly path: string
  readonly kept: ReadonlyMap<string, JsonObject>
}

/** Decodes an item, which is kept in the client's format. Of the APIs only Responses refers to items by id. */
function resolve(reference: Item, { id, path, kept, items }: ReferencePlace): Item {
  const body = kept.get(id)
  const decode = reference.type === 'native' && reference.dialect === responsesClient.name ? responsesClient.decodeItem : undefined
  return body && decode ? decode(body, path) : (reasoningWithoutState(id) ?? refuseReference(id, path, items))
}

/** Reasoning that is not kept is dropped from the conversation, with the usual warning for state that cannot be opened. */
const reasoningWithoutState = (id: string): Item | undefined =>
  id.startsWith('rs_') ? { type: 'reasoning', id, summary: [], encrypted_content: sealedPrefix + id } : undefined

function refuseReference(id: string, path: string, items: KeptItems | undefined): never {
  const message = items
    ? `\`${path}\` refers to the item ${JSON.stringify(id.slice(0, 100))}, which was not found. Items are stored for ${durationOf(items.ttl)} after their last use.`
    : `\`${path}\` refers to an item by id, but this gateway stores no items.`
  throw new GatewayError('invalid_parameter_value', {
    message,
    param: path,
    suggestion:
      'Send the items of the conversation in full. In the AI SDK, set the provider option `store: false`; it then sends the items in full.',
  })
}

function durationOf(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000)
  if (minutes < 1) return `${Math.max(1, Math.round(milliseconds / 1_000))} s`
  return minutes === 60 ? 'an hour' : minutes === 1 ? 'a minute' : `${minutes} minutes`
}
