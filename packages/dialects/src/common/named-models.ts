import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { isGatewayField } from './gateway-fields.ts'

// Models that a request names besides its own: a provider calls them for a tool that it runs.

/** A model that a request names beside its own. */
export interface NamedModel {
  readonly name: string
  /** The path of the field in the client's body. */
  readonly path: string
}

/**
 * How the names of fields end, without `_` and `-` and in lower case, that name a model wherever they are: `model` of an advisor (Anthropic) and of
 * image_generation (OpenAI), `compound_custom.models.answering_model` (Groq), `plugins[].model` and `allowed_models` (OpenRouter),
 * `llmRanker.modelName` (Google) (API references, November 2026).
 */
const endings = ['model', 'models', 'modelname', 'modelnames', 'modelid', 'modelids'] as const

const namesModel = (field: string): boolean => {
  const plain = field.replaceAll(/[_-]/g, '').toLowerCase()
  return endings.some(ending => plain.endsWith(ending))
}

/** The models that tools, and fields that are sent as the client wrote them, name: each once. Takes time linear in them. */
export function namedModels({ input, tools, native, extensions }: Prompt): readonly NamedModel[] {
  const paths = new Map<string, string>()
  const add = (value: Json | undefined, path: string): void => {
    if (typeof value === 'string' && value !== '' && !paths.has(value)) paths.set(value, path)
  }
  const search = (value: Json | undefined, path: string): void => {
    if (Array.isArray(value)) for (const [at, each] of value.entries()) search(each, `${path}[${at}]`)
    else if (isObject(value)) for (const field in value) searchField(field, value[field], path === '' ? field : `${path}.${field}`)
  }
  const searchField = (field: string, value: Json | undefined, path: string): void => {
    if (namesModel(field)) {
      if (Array.isArray(value)) for (const [at, each] of value.entries()) add(each, `${path}[${at}]`)
      else add(value, path)
    }
    if (field !== 'metadata') search(value, path)
  }
  const searchTools = (list: readonly Tool[], path: string): void =>
    list.forEach((tool, index) => {
      if (tool.type !== 'native') return
      const place = pathOf(tool, `${path}[${index}]`)
      if (tool.tools) searchTools(tool.tools, `${place}.tools`)
      else search(tool.body, place)
    })
  const searchBody = (body: JsonObject | undefined, path: string): void => {
    // Other fields of this level are left out.
    for (const field in body) if (!isGatewayField(field)) searchField(field, body[field], `${path}${field}`)
  }
  if (tools) searchTools(tools, 'tools')
  input.forEach((item, index) => {
    if (item.type === 'native' && item.tools) searchTools(item.tools, `${pathOf(item, `input[${index}]`)}.tools`)
  })
  searchBody(native?.body, '')
  searchBody(extensions, 'extensions.')
  return [...paths].map(([name, path]) => ({ name, path }))
}
