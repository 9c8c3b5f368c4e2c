import { expect, test } from 'vitest'
import { chatFields, responsesFields } from '../test/client-fields.ts'
import { readSchema } from '../test/recordings.ts'
import { isObject, type JsonObject } from './protocol/wire.ts'

const vendor = JSON.parse(readSchema('openai-subset-2026-08-21.json')) as JsonObject

/** Fields without a sample, each with the reason. */
const unsampled: Readonly<Record<string, string>> = {
  model: 'every request has it',
  input: 'every request has it; its kinds are sampled one by one',
  messages: 'every request has it; its kinds are sampled one by one',
  text: 'sampled by its parts',
  reasoning: 'sampled by its parts',
  store: 'true is refused, all else is the default',
  background: 'refused',
  previous_response_id: 'refused',
  conversation: 'refused',
  prompt: 'refused',
  functions: 'the old name of tools',
  function_call: 'the old name of tool_choice',
  prompt_cache_options: 'a field that no dialect of ours knows, as `unheard_of` is',
  context_management: 'a field that no dialect of ours knows, as `unheard_of` is',
  moderation: 'a field that no dialect of ours knows, as `unheard_of` is',
}

test.each([
  ['CreateResponse', responsesFields],
  ['CreateChatCompletionRequest', chatFields],
])('every field in the API description of %s has a sample', (name, samples) => {
  const known = new Set(samples.flatMap(({ field }) => [field, ...field.split(/[.:]/).slice(0, 1)]))
  expect([...propertiesOf(name)].filter(field => !known.has(field) && !(field in unsampled))).toEqual([])
})

function propertiesOf(name: string, seen: Set<string> = new Set()): ReadonlySet<string> {
  const components = isObject(vendor.components) ? vendor.components : {}
  const all = isObject(components.schemas) ? components.schemas : {}
  const walk = (schema: unknown): void => {
    if (!isObject(schema)) return
    if (typeof schema.$ref === 'string') walk(all[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)])
    if (isObject(schema.properties)) for (const field of Object.keys(schema.properties)) seen.add(field)
    if (Array.isArray(schema.allOf)) for (const part of schema.allOf) walk(part)
  }
  walk(all[name])
  return seen
}
