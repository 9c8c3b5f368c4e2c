import { expect, test } from 'vitest'
import type { Item } from '../protocol/item.ts'
import { checkContent } from './check-content.ts'

const message = (...content: readonly object[]): Item => ({ type: 'message', role: 'user', content }) as unknown as Item
const text = (said: string) => ({ type: 'text', text: said })
const check = (input: readonly Item[], instructions?: string) => () =>
  checkContent({ input, ...(instructions !== undefined && { instructions }) })

test.each<readonly [string, readonly Item[], ...string[]]>([
  ['text', [message(text('Hi'))]],
  ['text beside blanks', [message(text(' ')), message(text(''), text('Hi'))]],
  ['an image', [message({ type: 'image', url: 'https://a.example/1' })]],
  ['a file', [message({ type: 'file', url: 'https://a.example/1' })]],
  ['audio', [message({ type: 'audio', data: '', format: 'wav' })]],
  ['a refusal', [message({ type: 'refusal', refusal: 'No.' })]],
  ['a tool result', [{ type: 'function_call_output', call_id: 'c', output: '' } as Item]],
  ['a call', [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' } as Item]],
  ['instructions alone', [], 'Greet.'],
])('a conversation with %s has content', (_, input, instructions) => {
  expect(check(input, instructions)).not.toThrow()
})

test.each<readonly [string, readonly Item[], ...string[]]>([
  ['nothing', []],
  ['blank instructions', [], ' \n'],
  ['blank texts', [message(text(' ')), message(text('\n'))]],
  ['a message without parts', [message()]],
  ['a blank refusal', [message({ type: 'refusal', refusal: ' ' })]],
  ['thoughts alone', [{ type: 'reasoning', summary: ['Thus.'] } as Item]],
])('a conversation with %s has none, and is refused', (_, input, instructions) => {
  expect(check(input, instructions)).toThrow('`input` has no content: no text, image, file, audio or tool result.')
})
