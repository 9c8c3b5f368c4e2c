import type { Warning } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'

// Finds out what was sent for the settings that a warning mentions.

/** Where a dialect's body holds each prompt setting: paths with dots, of which the first that is set is used. */
export type SettingPaths = Readonly<Record<string, readonly string[]>>

const settings = [
  'temperature',
  'top_p',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'max_output_tokens',
  'parallel_tool_calls',
  'tool_choice',
  'reasoning.effort',
  'reasoning.summary',
  'truncation',
  'service_tier',
  'text.verbosity',
]

/** Changed settings by name, with the values that were sent. `null`: left out. */
export type UsedSettings = ReadonlyMap<string, Json>

/** Undefined if no warning mentions a setting. */
export function usedSettings(body: JsonObject, warnings: readonly Warning[], paths: SettingPaths): UsedSettings | undefined {
  const changed = settings.filter(setting => warnings.some(({ param }) => param === setting))
  if (changed.length === 0) return undefined
  return new Map(changed.map(setting => [setting, valueAt(body, own(paths, setting) ?? [])]))
}

function valueAt(body: JsonObject, paths: readonly string[]): Json {
  for (const path of paths) {
    let value: Json | undefined = body
    for (const field of path.split('.')) value = isObject(value) ? own(value, field) : undefined
    if (value !== undefined && value !== null) return wordOf(value)
  }
  return null
}

/** A choice may be an object: `{ type: 'auto' }`, or `{ auto: {} }`. */
function wordOf(value: Json): Json {
  if (!isObject(value)) return typeof value === 'string' ? value.toLowerCase() : value
  return typeof value.type === 'string' ? value.type : (Object.keys(value)[0] ?? null)
}
