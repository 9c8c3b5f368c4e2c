import { expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import type { Item } from '../protocol/item.ts'
import { responsesProvider } from '../responses/provider.ts'
import { withUniqueCallIds } from './unique-call-ids.ts'

const call = (call_id: string): Item => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' })
const result = (call_id: string): Item => ({ type: 'function_call_output', call_id, output: 'r' })
const idsOf = (items: readonly Item[]): readonly unknown[] => items.map(item => ('call_id' in item ? item.call_id : undefined))

test('call ids that repeat in later turns become unique, and results stay with their calls', () => {
  const turns = [call('0'), call('1'), result('1'), result('0'), call('0'), result('0'), call('0_2'), result('0_2')]
  expect(idsOf(withUniqueCallIds(turns))).toEqual(['0', '1', '1', '0', '0_3', '0_3', '0_2', '0_2'])
})

test('calls of one turn with the same id have their results in order', () => {
  expect(idsOf(withUniqueCallIds([call('0'), call('0'), result('0'), result('0')]))).toEqual(['0', '0_2', '0', '0_2'])
})

test('an id is the same in every later request of the conversation', () => {
  const turns = [call('0'), result('0'), call('0'), result('0')]
  const longer = withUniqueCallIds([...turns, call('0'), result('0')])
  expect(idsOf(longer).slice(0, turns.length)).toEqual(idsOf(withUniqueCallIds(turns)))
})

test('a server of the Responses API gets no call id twice', () => {
  const turn = [
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'call_0', content: 'r' },
  ]
  const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }, ...turn, ...turn] })
  const input = responsesProvider.encodeRequest(request, offer, {}).body.input as readonly { readonly call_id?: string }[]
  expect(input.flatMap(({ call_id }) => call_id ?? [])).toEqual(['call_0', 'call_0', 'call_0_2', 'call_0_2'])
})

test('a conversation without repeated ids is the same object', () => {
  const turns = [call('0'), result('0'), call('1'), result('1')]
  expect(withUniqueCallIds(turns)).toBe(turns)
})
