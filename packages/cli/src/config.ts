import { readFileSync } from 'node:fs'
import type * as z from 'zod'
import { type Environment, overriding, settingOf } from './environment.ts'
import { StartError, shown } from './fault.ts'
import { type Config, configSchema } from './schema.ts'

const usualFile = 'signalbox.config.json'

/**
 * The config: the file that `--config` or SIGNALBOX_CONFIG names, else the usual one in the working directory, else the
 * defaults; and over it what variables say. Throws a StartError that names the field at fault.
 */
export function readConfig(environment: Environment, named = settingOf(environment, 'SIGNALBOX_CONFIG')): Config {
  const file = readFile(named)
  const overrides = overriding(environment)
  const raw = { ...file, ...Object.fromEntries([...overrides].map(([field, { value }]) => [field, value])) }
  const read = configSchema.safeParse(raw)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const variable = overrides.get(String(issue?.path[0]))?.variable
  throw new StartError(variable === undefined ? `${named ?? usualFile}: ${told(issue, raw)}` : told(issue, raw, variable))
}

function readFile(named: string | undefined): Readonly<Record<string, unknown>> {
  const path = named ?? usualFile
  const text = textOf(path, named === undefined)
  if (text === undefined) return {}
  const value = parse(text.replace(/^\ufeff/, ''), path)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw new StartError(`${path} holds ${shown(value, '')}; it takes one JSON object.`)
}

/** Undefined: nobody asked for the file, and there is none. */
function textOf(path: string, optional: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (optional && code === 'ENOENT') return undefined
    throw new StartError(`The config file ${path} cannot be read (${code}).`)
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser's message may quote the file, and the file holds keys: only the place may be told.
    const place = /\(line \d+ column \d+\)|^Unexpected (?:token '.'|end of JSON input)/u.exec(String((error as Error).message))?.[0]
    throw new StartError(`${path} is not valid JSON${place === undefined ? '' : `: ${place.replace(/^\(|\)$/g, '')}`}.`)
  }
}

function told(issue: z.core.$ZodIssue | undefined, raw: unknown, variable?: string): string {
  if (issue === undefined) return 'the config cannot be read.'
  const path = spelled(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return `\`${path === '' ? key : `${path}.${key}`}\` is not a known field; ${path === '' ? 'known fields are' : `\`${path}\` takes`} ${issue.message}.`
  }
  const field = variable ?? path
  return `\`${field}\` is ${shown(valueAt(raw, issue.path), field)}; it takes ${issue.message}.`
}

/** `models[0].offers[1].price` */
const spelled = (path: readonly PropertyKey[]): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? String(step) : `.${String(step)}`)).join('')

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], value)
