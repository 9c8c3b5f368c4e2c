import { readAllowedTools } from '../common/allowed-tools.ts'
import type { BodyDraft } from '../common/body-draft.ts'
import { stringOf } from '../common/json.ts'
import { commonKeywords } from '../common/schema-rules.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { SchemaRules } from '../protocol/schemas.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Tools, and the response format: a schema that the provider enforces, or an instruction.

export const schemaRules: SchemaRules = {
  name: 'gemini',
  keeps: new Set([...commonKeywords, 'format', 'minItems', 'maxItems', 'minimum', 'maximum', 'prefixItems', 'propertyOrdering']),
  closed: false,
  enums: new Set(['string', 'number']),
}

/** Sets the response format in `generationConfig`. Returns text to add to the system prompt. */
export function encodeFormat({ text, tools = [] }: Prompt, config: BodyDraft): string | undefined {
  const format = text?.format
  if (!format || format.type === 'text') return undefined
  const { jsonSchema, jsonSchemaWithoutTools } = config.quirks
  const isRefusedBesideTools = jsonSchemaWithoutTools === true && tools.some(({ type }) => type === 'function')
  if (isRefusedBesideTools || (jsonSchema !== undefined && jsonSchema !== 'native')) {
    const reason = isRefusedBesideTools ? 'does not support a response format together with tools' : 'cannot enforce a response format'
    config.warn('text.format', `This model ${reason}; it was added to the prompt instead.`)
    return format.type === 'json_object'
      ? 'Answer with one JSON object, and with nothing else.'
      : `Answer with one JSON object that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`
  }
  config.set('responseMimeType', 'application/json')
  if (format.type === 'json_schema') config.set('responseJsonSchema', config.fitSchema('text.format.schema', format.schema, schemaRules))
  return undefined
}

/** Sets `tools` and `toolConfig`. */
export function encodeTools({ tools = [], tool_choice: choice, parallel_tool_calls }: Prompt, draft: BodyDraft): void {
  const functions: JsonObject[] = []
  /** Tools of this dialect that are not functions. */
  const others: JsonObject[] = []
  let isStrict = false
  for (const [at, tool] of tools.entries()) {
    const param = `tools[${at}]`
    if (tool.type === 'function') {
      const { name, description, parameters } = tool
      const parametersJsonSchema =
        parameters && !isEmptySchema(parameters) ? draft.fitSchema(`${param}.parameters`, parameters, schemaRules) : undefined
      functions.push({ name: draft.toolNames.sent(name), description, parametersJsonSchema })
      if (draft.isStrict(tool, param)) isStrict = true
    } else if (tool.dialect === dialect) others.push(tool.body)
    else draft.omit(param, `(${stringOf(tool.body.type)}) is not supported by this provider and was left out.`)
  }
  // Only functions can be chosen.
  if (functions.length === 0 && choice !== undefined && choice !== 'auto' && choice !== 'none')
    draft.warn('tool_choice', '`tool_choice` was left out: no tool is left to choose.')
  if (functions.length + others.length === 0) return
  if (parallel_tool_calls === false)
    draft.warn(
      'parallel_tool_calls',
      'This provider does not support `parallel_tool_calls: false`; the model may make several tool calls at once.',
    )
  draft.set('tools', functions.length > 0 ? [{ functionDeclarations: functions }, ...others] : others)
  if (functions.length > 0) draft.set('toolConfig', encodeChoice(choice, isStrict, draft))
}

/** Whether a tool takes no parameters. An object schema without properties is rejected. */
const isEmptySchema = (schema: JsonObject): boolean =>
  Object.entries(schema).every(
    ([key, value]) =>
      key === 'type' ||
      key === '$schema' ||
      key === 'title' ||
      key === 'required' ||
      (key === 'additionalProperties' && value === false) ||
      (key === 'properties' && isObject(value) && Object.keys(value).length === 0),
  )

const callingConfig = (mode: string, allowedFunctionNames?: readonly string[]): JsonObject => ({
  functionCallingConfig: { mode, allowedFunctionNames },
})

/** `isStrict`: whether arguments must match their schemas. */
function encodeChoice(choice: ToolChoice | undefined, isStrict: boolean, draft: BodyDraft): JsonObject | undefined {
  const auto = isStrict ? callingConfig('VALIDATED') : undefined
  if (choice === undefined || choice === 'auto') return auto
  if (choice === 'none') return callingConfig('NONE')
  if (typeof choice === 'object' && choice.type === 'native' && choice.dialect === dialect) return choice.body
  const isNamed = typeof choice === 'object' && choice.type === 'function'
  const listed = readAllowedTools(choice)
  if (!listed && !isNamed && choice !== 'required') {
    draft.omit('tool_choice')
    return auto
  }
  const allowed = (isNamed ? [choice.name] : listed?.names)?.map(draft.toolNames.sent)
  if (listed?.isForced === false) return callingConfig('VALIDATED', allowed)
  if (!draft.quirks.noForcedTools) return callingConfig('ANY', allowed)
  draft.warn('tool_choice', 'This provider does not support a required tool call; the model decides whether to call a tool.')
  return allowed ? callingConfig('VALIDATED', allowed) : auto
}
