import { sourceOf } from '@signalbox/core/runtime'
import {
  type InferenceEvent,
  type InferenceRequest,
  type InferenceResponse,
  type ResponseMetadata,
  unfold,
} from '@signalbox/dialects/protocol'
import type { CallOptions, Gateway, Reply } from '@signalbox/gateway'

/** The reply to a request whose input ends with a `compaction_trigger`. Its only item stands for the conversation. */
export function compactionReply(
  gateway: Gateway,
  inferenceRequest: InferenceRequest,
  options: CallOptions & { readonly requestId: string },
): Reply {
  const leaving = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, leaving.signal]) : leaving.signal
  let metadata = announced(gateway, inferenceRequest, options.requestId)
  const answer = gateway.compact(inferenceRequest, { ...options, signal }).then(compaction => {
    metadata = compaction.metadata
    const output: InferenceResponse['output'] = [{ type: 'native', dialect: 'responses', body: compaction.item }]
    return { ...compaction.response, output }
  })
  const committed = answer.then(() => {})
  committed.catch(() => {})
  async function* batches(): AsyncGenerator<readonly InferenceEvent[], undefined> {
    yield unfold(await answer)
  }
  return {
    committed,
    events: () => sourceOf(batches()),
    batches,
    whole: () => answer,
    async leave() {
      leaving.abort()
      await answer.catch(() => {})
    },
    metadata: () => metadata,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch
    },
  }
}

/** The facts known before the response. */
const announced = (gateway: Gateway, { routing }: InferenceRequest, requestId: string): ResponseMetadata => ({
  id: `resp_${requestId.replaceAll('-', '')}`,
  model: routing.models[0],
  created_at: Math.floor(gateway.clock.now() / 1000),
  itemId: prefix => `${prefix}_${requestId.replaceAll('-', '')}`,
  warnings: [],
})
