import { anyText, arrayOf, literalOf, objectValue, optional, type Read, required } from '@signalbox/dialects/common'
import type { FunctionCallOutputItem, Json, Part } from '@signalbox/dialects/protocol'
import { decodePromptPart } from './decode-parts.ts'
import { type LostOptions, noteLost, noteLostOptions } from './provider-options.ts'

type ToolOutput = Pick<FunctionCallOutputItem, 'output' | 'is_error'>

/** The `output` of a tool result: text, JSON as text, parts, or an error. */
export const decodeToolOutput =
  (lost: LostOptions): Read<ToolOutput> =>
  (value, path) => {
    const body = objectValue(value, path)
    const place = { body, path }
    const type = required(place, 'type', literalOf('text', 'json', 'error-text', 'error-json', 'execution-denied', 'content'))
    if (type === 'execution-denied')
      return { output: optional(place, 'reason', anyText) ?? 'The user denied the execution of the tool.', is_error: true }
    if (type === 'content') return { output: required(place, 'value', arrayOf(decodeOutputPart(lost))).flat() }
    const output = type === 'text' || type === 'error-text' ? required(place, 'value', anyText) : jsonText(body.value)
    return { output, ...(type.startsWith('error') && { is_error: true }) }
  }

const jsonText = (value: Json | undefined): string => JSON.stringify(value ?? null)

const decodeOutputPart =
  (lost: LostOptions): Read<readonly Part[]> =>
  (value, path) => {
    const body = objectValue(value, path)
    noteLostOptions(body, 'prompt[*].content[*].output.value[*]', lost)
    if (required({ body, path }, 'type', literalOf('text', 'file', 'custom')) !== 'custom') return [decodePromptPart({ body, path })]
    noteLost(lost, `${path} (custom)`)
    return []
  }
