import { responsesProvider } from '@signalbox/dialects'
import type { InferenceRequest, InferenceResponse, Item } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { sealingKey } from '../../../test/state/fixture.ts'
import { makeKeyRing } from '../../runtime/seal.ts'
import { type PipelineContext, responsePipeline } from './response-pipeline.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }
const request: InferenceRequest = { prompt: { input: [] }, routing: { models: ['m'], allow_fallbacks: true }, delivery: 'whole' }
const candidate = {
  model: { id: 'm', offers: [] },
  offer: { provider: 'a', model: 'theirs', api: responsesProvider.name },
  provider: { id: 'a', dialects: [responsesProvider], endpoint: () => '', authorize: () => {} },
  credential: { id: 'key', owner: 'platform', secret: '' },
}

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
