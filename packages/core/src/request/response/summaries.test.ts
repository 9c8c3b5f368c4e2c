import { chatProvider, responsesProvider } from '@signalbox/dialects'
import type { InferenceEvent, InferenceResponse } from '@signalbox/dialects/protocol'
import { fold, unfold } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { summaryRewriter } from './summaries.ts'

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
