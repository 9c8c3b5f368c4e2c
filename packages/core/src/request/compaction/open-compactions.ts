import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { type Item, isCompaction, type Native, pathOf } from '@signalbox/dialects/protocol'
import type { ItemOwner } from '../../access/caller.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import { isSummaryEnvelope, openSummary } from './summary-envelope.ts'

const introduction = 'This is a summary of the conversation so far. The messages that it stands for are not repeated.'

/**
 * Turns compaction items of this gateway into messages with the summary, which every provider accepts. Items of a vendor are kept
 * unchanged, for offers in that vendor's dialect. Returns the request itself if there is nothing to open.
 *
 * @throws `invalid_parameter_value` (400) if an item cannot be opened.
 */
export function openCompactions(request: InferenceRequest, owner: ItemOwner, ring: KeyRing): InferenceRequest | Promise<InferenceRequest> {
  return request.prompt.input.some(isCompaction) ? openAll(request, owner, ring) : request
}

async function openAll(request: InferenceRequest, owner: ItemOwner, ring: KeyRing): Promise<InferenceRequest> {
  const input = await Promise.all(
    request.prompt.input.map((item, index) => (isCompaction(item) ? openItem(item, { at: index, owner, ring }) : item)),
  )
  return { ...request, prompt: { ...request.prompt, input } }
}

interface OpenContext {
  readonly at: number
  readonly owner: ItemOwner
  readonly ring: KeyRing
}

async function openItem(item: Native, { at, owner, ring }: OpenContext): Promise<Item> {
  const { encrypted_content: sealed } = item.body
  if (typeof sealed !== 'string' || !isSummaryEnvelope(sealed)) return item
  const summary = await openSummary(ring, owner, sealed)
  if (summary === undefined) throw sealedElsewhereError(pathOf(item, `input[${at}]`))
  return { type: 'message', role: 'user', content: [{ type: 'text', text: `${introduction}\n\n${summary}` }] }
}

const sealedElsewhereError = (path: string): GatewayError =>
  new GatewayError('invalid_parameter_value', {
    message: `The compaction item \`${path}\` cannot be opened: it belongs to another workspace or user, was sealed with a key that was removed, or was modified. Send the full conversation instead.`,
    param: `${path}.encrypted_content`,
  })
