import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, InferenceResponse, JsonObject, ResponseMetadata } from '@signalbox/dialects/protocol'
import { type Item, isCompactionTrigger } from '@signalbox/dialects/protocol'
import type { KeyRing } from '../../runtime/seal.ts'
import type { CallOptions, Reply } from '../reply.ts'
import { sealSummary } from './summary-envelope.ts'

/** A conversation that was summarized by the requested model. */
export interface Compaction {
  /** A `compaction` item of the Responses API that replaces the conversation in later requests to this gateway. */
  readonly item: JsonObject
  /** The model's response, with the summary as plain text and the usage. */
  readonly response: InferenceResponse
  readonly metadata: ResponseMetadata
}

interface CompactionPorts {
  readonly infer: (request: InferenceRequest, options: CallOptions) => Reply
  readonly ring: KeyRing
}

const instruction = `Summarize the conversation so far, so that another model can continue it from your summary alone. Write only the summary. Include:
- what the user asked for, with all constraints and preferences, as literally as needed;
- what was done and decided, and why;
- exact names, paths, identifiers, commands, values and error messages that are still needed;
- what tools returned, as far as it still matters;
- what is unfinished, and the next steps.`

/**
 * Has the requested model summarize a conversation, and seals the summary for the caller's workspace or end user. This is one request,
 * which is admitted, routed, metered and billed like any other.
 *
 * @throws the error that the request ends with; `provider_error` (502) if the model wrote no text.
 */
export async function compact({ infer, ring }: CompactionPorts, request: InferenceRequest, options: CallOptions): Promise<Compaction> {
  const reply = infer(summaryRequest(request), options)
  const response = await reply.whole()
  const metadata = reply.metadata()
  const summary = summaryOf(response)
  if (summary === '') throw noSummaryError(response)
  const sealed = await sealSummary(ring, options.caller, summary)
  return { item: { type: 'compaction', id: metadata.itemId('cmp'), encrypted_content: sealed }, response, metadata }
}

/** The conversation plus a message that requests the summary. The tools are kept, since calls in the conversation refer to them. */
function summaryRequest({ prompt, ...request }: InferenceRequest): InferenceRequest {
  const { text: _text, tool_choice: _choice, include: _include, ...rest } = prompt
  const asking: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: instruction }] }
  const input = [...prompt.input.filter(item => !isCompactionTrigger(item)), asking]
  return { ...request, delivery: 'whole', prompt: { ...rest, input, tool_choice: prompt.tools ? 'none' : undefined } }
}

const summaryOf = ({ output }: InferenceResponse): string =>
  output
    .flatMap(item => (item.type === 'message' ? item.content : []))
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('')

const noSummaryError = ({ outcome }: InferenceResponse): GatewayError =>
  new GatewayError('provider_error', {
    message: `The model wrote no summary${outcome.status === 'failed' ? `: ${outcome.error.message}` : ''}. Try again, or use another model.`,
  })
