import { readFileSync } from 'node:fs'
import { codeNameOf, wireNameOf } from '@signalbox/dialects/protocol'
import { presentName } from '@signalbox/storage/option-table'
import type * as z from 'zod/v4'
import { type Environment, type Flags, overridesIn, settingOf, withOverrides } from './environment.ts'
import { StartError, shown } from './fault.ts'
import { type Config, configSchema } from './schema.ts'
import { innermostIssue } from './schema-fields.ts'

const defaultFile = 'signalbox.config.json'

/** The config settings from the command line. */
export interface ConfigArguments {
  /** The config file. */
  readonly file?: string | undefined
  /** Fields by flag name. */
  readonly flags?: Flags
}

/**
 * Reads the config: from the file that `--config` or SIGNALBOX_CONFIG names, else from signalbox.config.json in the working directory, else
 * the defaults. Environment variables override its fields, and command line flags override both.
 *
 * @throws {StartError} Names the invalid field.
 */
export function readConfig(environment: Environment, { file, flags = {} }: ConfigArguments = {}): Config {
  const named = file ?? settingOf(environment, 'SIGNALBOX_CONFIG')
  const overrides = overridesIn(environment, flags)
  const raw = withOverrides(readFile(named), overrides)
  const read = configSchema.safeParse(raw)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const path = issue?.path ?? []
  const variable = (overrides.get(String(path[0])) ?? overrides.get(path.join('.')))?.source
  throw new StartError(
    variable === undefined ? `${named ?? defaultFile}: ${describeIssue(issue, raw)}` : describeIssue(issue, raw, variable),
  )
}

function readFile(named: string | undefined): Readonly<Record<string, unknown>> {
  const path = named ?? defaultFile
  const text = readOptionalFile(path, named === undefined)
  if (text === undefined) return {}
  const value = parseConfig(text.replace(/^\ufeff/, ''), path)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw new StartError(`${path} contains ${shown(value, '')}; it takes one JSON object.`)
}

/** Undefined if the file is optional and does not exist. */
function readOptionalFile(path: string, optional: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (optional && code === 'ENOENT') return undefined
    throw new StartError(`The config file ${path} cannot be read (${code}).`)
  }
}

function parseConfig(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser's message may quote the file, which contains keys, so only the position is shown.
    const place = /\(line \d+ column \d+\)|^Unexpected (?:token '.'|end of JSON input)/u.exec(String((error as Error).message))?.[0]
    throw new StartError(`${path} is not valid JSON${place === undefined ? '' : `: ${place.replace(/^\(|\)$/g, '')}`}.`)
  }
}

function describeIssue(found: z.core.$ZodIssue | undefined, raw: unknown, variable?: string): string {
  if (found === undefined) return 'the config cannot be read.'
  const issue = innermostIssue(found, valueAt(raw, found.path))
  const path = fieldPath(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const now = presentName(codeNameOf(key), issue.message.split(', ').map(codeNameOf))
    const known =
      now === undefined ? `${path === '' ? 'known fields are' : `\`${path}\` takes`} ${issue.message}` : `it is \`${wireNameOf(now)}\` now`
    return `\`${path === '' ? key : `${path}.${key}`}\` is not a known field; ${known}.`
  }
  const field = variable ?? path
  return `\`${field}\` is ${shown(valueAt(raw, issue.path), field)}; it takes ${issue.message}.`
}

/** `models[0].offers[1].price` */
const fieldPath = (path: readonly PropertyKey[]): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`)).join('')

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], value)
