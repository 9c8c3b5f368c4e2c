import { GatewayError } from '../errors/gateway-error.ts'
import { nearestOf } from '../errors/nearest.ts'
import { isObject } from '../protocol/wire.ts'
import { wrong } from './check.ts'
import { wireName } from './wire-names.ts'

// What comes from a form or the body of a request has no type that a compiler saw. What is kept is what every later call goes by.

/** What a field takes. */
export interface Rule {
  readonly holds: (value: unknown) => boolean
  readonly takes: string
  readonly isNeeded?: boolean
  readonly within?: Shape
}

/** A rule for each field; there are no others. */
export type Shape<Input = Readonly<Record<string, unknown>>> = { readonly [Field in keyof Required<Input>]: Rule }

/** The arguments of a verb: an id where one is named, then what is to be done, or how it is to be listed. */
interface Signature {
  readonly id?: true
  readonly input?: Shape
  /** Like `input`, and may be left out. */
  readonly options?: Shape
}

export type Signatures<Resource> = { readonly [Verb in keyof Resource]?: Signature }

/** The same verbs, which refuse with the field's name what they cannot take: `GatewayError`, never a `TypeError`. */
export function held<Resource extends object>(name: string, verbs: Resource, signatures: Signatures<Resource>): Resource {
  const checked = Object.entries<Signature>(signatures as Readonly<Record<string, Signature>>).map(([verb, signature]) => {
    const act = verbs[verb as keyof Resource] as (...args: readonly unknown[]) => unknown
    const call = async (...args: readonly unknown[]): Promise<unknown> => {
      checkCall(`${name}.${verb}`, signature, args)
      return act(...args)
    }
    return [verb, call]
  })
  return { ...verbs, ...Object.fromEntries(checked) }
}

function checkCall(verb: string, { id, input, options }: Signature, args: readonly unknown[]): void {
  if (id && typeof args[0] !== 'string') throw wrong('id', args[0], 'an id, a text')
  const said = args[id ? 1 : 0]
  const shape = input ?? (said === undefined ? undefined : options)
  if (!shape) return
  if (!isObject(said))
    throw new GatewayError('invalid_request', { message: `\`${verb}\` takes an object, with ${Object.keys(shape).join(', ')}.` })
  checkShape(said, shape)
}

/** Fields that are `undefined` are not there. Throws for the first fault. */
function checkShape(said: Readonly<Record<string, unknown>>, shape: Shape, place = ''): void {
  for (const [field, value] of Object.entries(said))
    if (value !== undefined && !Object.hasOwn(shape, field)) throw unknownField(place, field, Object.keys(shape))
  for (const [field, { holds, takes, isNeeded, within }] of Object.entries(shape)) {
    const value = said[field]
    const param = place + wireName(field)
    if (value === undefined && isNeeded)
      throw new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing.`, param })
    if (value === undefined) continue
    if (!holds(value)) throw wrong(param, value, takes)
    if (within && isObject(value)) checkShape(value, within, `${param}.`)
  }
}

function unknownField(place: string, field: string, known: readonly string[]): GatewayError {
  const param = place + field.slice(0, 100)
  const [close] = nearestOf(field, known)
  const suggestion = close === undefined ? undefined : `Did you mean "${close}"?`
  const way = suggestion ?? `It takes ${known.join(', ')}.`
  return new GatewayError('unknown_field', {
    message: `There is no field \`${param}\` here. ${way}`,
    param,
    ...(suggestion !== undefined && { suggestion }),
  })
}
