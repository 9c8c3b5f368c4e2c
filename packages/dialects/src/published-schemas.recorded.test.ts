import { Ajv, type ValidateFunction } from 'ajv'
import { describe, expect, test } from 'vitest'
import { decode, encode, metadataOf } from '../test/laws.ts'
import { readSchema, recordings } from '../test/recordings.ts'
import { fold } from './protocol/fold.ts'
import type { JsonObject } from './protocol/wire.ts'
import { providerDialects } from './providers.ts'
import { responsesClient } from './responses/client.ts'

interface Deviation {
  readonly at: RegExp
  readonly why: string
}

/** Known deviations from each document. */
const documents: Readonly<Record<string, { readonly file: string; readonly deviations: readonly Deviation[] }>> = {
  'the vendor’s description': {
    file: 'openai-subset-2026-08-21.json',
    deviations: [
      { at: /^\/response\/usage must be object/, why: 'before the end usage is null, as the vendor itself sends it' },
      { at: /^\/response\/error /, why: 'the vendor itself sends error codes outside its list, such as insufficient_quota' },
      { at: /^\/item web_search_call/, why: 'the vendor itself announces a search without its action' },
    ],
  },
  'the open specification': {
    file: 'openapi-2026-04-24.json',
    deviations: [
      {
        at: /^response\.reasoning_text\.\w+ is not known/,
        why: 'here it is response.reasoning.*, which the vendor’s SDK does not know and stops at',
      },
      { at: /^response\.(web_search|file_search|code_interpreter|mcp)_\w+\.\w+ is not known/, why: 'hosted tools are not part of it' },
      { at: /^\/(item|response\/output\/\*) (\w+_call|mcp_\w+|program)$/, why: 'hosted tools are not part of it' },
      {
        at: /^\/(annotation (container_)?file_citation|part output_text|item message|response\/output\/\* message)$/,
        why: 'it knows citations of web pages only; the vendor’s document checks these',
      },
    ],
  },
}

type Schema = { [key: string]: unknown }

const schemaOf = (file: string): Schema => JSON.parse(readSchema(file)) as Schema

/** Validator of each event type. */
function validators(file: string): ReadonlyMap<string, ValidateFunction> {
  const document = schemaOf(file)
  const schemas = (
    document.components as {
      readonly schemas: Readonly<Record<string, { readonly properties?: { readonly type?: { readonly enum?: readonly string[] } } }>>
    }
  ).schemas
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, discriminator: false })
  ajv.addSchema({ $id: 'document', ...document })
  return new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const [type] = schema.properties?.type?.enum ?? []
      if (type === undefined || !(name.endsWith('Event') || type === 'error')) return []
      return [[type, ajv.compile({ $ref: `document#/components/schemas/${name}` })] as const]
    }),
  )
}

describe.each(Object.entries(documents))('%s', (_, { file, deviations }) => {
  const known = validators(file)

  test.each(recordings)('$name', ({ dialect, frames }) => {
    const provider = providerDialects[dialect]
    if (!provider) throw new Error(dialect)
    const faults = new Map<string, number>()
    for (const { data } of encode(decode(provider, frames))) {
      const body = JSON.parse(data) as JsonObject & { readonly type: string }
      for (const fault of faultsIn(known.get(body.type), body)) faults.set(fault, (faults.get(fault) ?? 0) + 1)
    }
    expect([...faults.keys()].filter(fault => !deviations.some(({ at }) => at.test(fault)))).toEqual([])
  })

  test('whole responses are valid', () => {
    for (const { dialect, frames } of recordings) {
      const provider = providerDialects[dialect]
      const request = responsesClient.decodeRequest({ model: 'm', input: 'x', tools: [{ type: 'function', name: 'f' }] })
      const body = provider && responsesClient.encodeResponse(fold(decode(provider, frames)), request, metadataOf())
      const faults = faultsIn(known.get('response.completed'), { type: 'response.completed', sequence_number: 0, response: body })
      expect(faults.filter(fault => !deviations.some(({ at }) => at.test(fault)))).toEqual([])
    }
  })
})

/** One line for each value that matches none of its allowed shapes. The mismatches of the individual shapes add nothing. */
function faultsIn(validate: ValidateFunction | undefined, body: JsonObject & { readonly type: string }): readonly string[] {
  if (!validate) return [`${body.type} is not known`]
  if (validate(body)) return []
  const errors = validate.errors ?? []
  const unions = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf').map(({ instancePath }) => instancePath)
  const roots = unions.filter(path => !unions.some(other => other !== path && path.startsWith(`${other}/`)))
  const plain = errors.filter(({ instancePath }) => !roots.some(root => instancePath === root || instancePath.startsWith(`${root}/`)))
  return [
    ...new Set([
      ...plain.map(({ instancePath, message }) => `${instancePath} ${message}`),
      ...roots.map(root => `${root} ${typeAt(body, root)}`),
    ]),
  ].map(fault => fault.replace(/\/\d+/g, '/*'))
}

function typeAt(body: unknown, path: string): string {
  const value = path
    .split('/')
    .slice(1)
    .reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>>)[key], body)
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : JSON.stringify(value)
}
