import { chatProvider, responsesProvider } from '@signalbox/dialects'
import type { InferenceEvent, InferenceRequest, InferenceResponse, Item } from '@signalbox/dialects/protocol'
import { fold, unfold } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { sealingKey } from '../../../test/state/fixture.ts'
import { makeCandidate } from '../../routing/plan.ts'
import { makeKeyRing } from '../../runtime/seal.ts'
import { type PipelineContext, responsePipeline, summaryRewriter } from './response-pipeline.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }
const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'whole' }
const candidate = makeCandidate({
  model: { id: 'm', offers: [] },
  offer: { provider: 'a', model: 'theirs', api: responsesProvider.name },
  provider: { id: 'a', dialects: [responsesProvider], endpoint: () => '', authorize: () => {} },
  credential: { id: 'key', owner: 'platform', secret: '' },
})

test.each([1, 500, 501, 1_203])('a whole response of %d reasoning items keeps them all in order, each one sealed', async count => {
  const pipeline = responsePipeline({ ring: makeKeyRing(() => [sealingKey]), logger }, {
    request,
    originalRequest: request,
    committed: { candidate, answer: {}, warnings: [] },
    caller: { workspaceId: 'w', keyId: 'k' },
    cap: undefined,
  } as unknown as PipelineContext)
  const output = Array.from({ length: count }, (_, at): Item => ({ type: 'reasoning', summary: [`${at}`], encrypted_content: 'theirs' }))
  const response = { id: 'r', model: 'm', created_at: 0, output, outcome: { status: 'completed' } } as InferenceResponse
  const processed = await pipeline.whole(response)
  expect(processed.output.map(item => item.type === 'reasoning' && item.summary[0])).toEqual(output.map((_, at) => `${at}`))
  for (const item of processed.output) expect(item.type === 'reasoning' && item.encrypted_content).toMatch(/^gw1\./)
})

const wanting = { input: [], reasoning: { summary: 'auto' } }
const answer: InferenceResponse = {
  id: 'a',
  model: 'm',
  created_at: 1,
  output: [
    { type: 'reasoning', summary: [], content: ['First the points.', 'Then the signal.'] },
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Clear.' }], status: 'completed' },
  ],
  outcome: { status: 'completed' },
}
const kinds = (events: readonly InferenceEvent[]): readonly string[] =>
  events.flatMap(event => (event.type === 'delta' ? [event.delta.kind] : []))

test('raw reasoning is sent as the requested summary, in events and in the finished item', () => {
  const rewritten = summaryRewriter(wanting, chatProvider)?.batch(unfold(answer)) ?? []
  expect(kinds(rewritten)).toEqual(['summary', 'summary', 'text'])
  expect(fold(rewritten).output[0]).toEqual({ type: 'reasoning', summary: ['First the points.', 'Then the signal.'] })
})

test('a request without a summary option gets no summary', () => {
  expect(summaryRewriter({ input: [] }, chatProvider)).toBeUndefined()
  expect(summaryRewriter({ input: [], reasoning: { summary: 'none' } }, chatProvider)).toBeUndefined()
  expect(summaryRewriter({ input: [], reasoning: { effort: 'high' } }, chatProvider)).toBeUndefined()
})

test('summaries of a dialect that has its own are kept', () => {
  expect(summaryRewriter(wanting, responsesProvider)).toBeUndefined()
})

test('a batch without raw reasoning is passed on unchanged', () => {
  const batch = unfold({ ...answer, output: answer.output.slice(1) })
  expect(summaryRewriter(wanting, chatProvider)?.batch(batch)).toBe(batch)
})
