import type { Item } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { checkContent } from './check-content.ts'

const message = (...content: readonly object[]): Item => ({ type: 'message', role: 'user', content }) as unknown as Item
const text = (said: string) => ({ type: 'text', text: said })
const check = (input: readonly Item[], instructions?: string) => () =>
  checkContent({ input, ...(instructions !== undefined && { instructions }) })

const row = (has: string, input: readonly Item[], instructions?: string) => ({ has, input, instructions })

test.each([
  row('text', [message(text('Hi'))]),
  row('text beside blanks', [message(text(' ')), message(text(''), text('Hi'))]),
  row('an image', [message({ type: 'image', url: 'https://a.example/1' })]),
  row('a file', [message({ type: 'file', url: 'https://a.example/1' })]),
  row('audio', [message({ type: 'audio', data: '', format: 'wav' })]),
  row('a refusal', [message({ type: 'refusal', refusal: 'No.' })]),
  row('a tool result', [{ type: 'function_call_output', call_id: 'c', output: '' } as Item]),
  row('a call', [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' } as Item]),
  row('instructions only', [], 'Greet.'),
])('a conversation with $has has content', ({ input, instructions }) => {
  expect(check(input, instructions)).not.toThrow()
})

test.each([
  row('nothing', []),
  row('blank instructions', [], ' \n'),
  row('blank texts', [message(text(' ')), message(text('\n'))]),
  row('a message without parts', [message()]),
  row('a blank refusal', [message({ type: 'refusal', refusal: ' ' })]),
  row('reasoning only', [{ type: 'reasoning', summary: ['Thus.'] } as Item]),
])('a conversation with $has has no content and is refused', ({ input, instructions }) => {
  expect(check(input, instructions)).toThrow('`input` has no content: no text, image, file, audio or tool result.')
})
