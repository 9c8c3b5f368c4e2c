import type { Fields, InputSpec } from '@signalbox/core/resources'
import { checkInput, invalidValue, type NameStyle, withWireNames } from '@signalbox/core/resources'
import { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import { isObject } from '@signalbox/dialects/protocol'

/** The arguments of a method: an optional id, then its input or its options. */
interface CallSpec {
  readonly id?: true
  readonly input?: InputSpec
  readonly options?: Fields
}

/** The arguments of the methods of a resource. Methods without arguments are absent. */
export type CallSpecs<Resource> = { readonly [Method in keyof Resource]?: CallSpec }

/**
 * The same methods with their arguments checked, because input may come from JavaScript or a form, where types are not checked. They
 * throw only GatewayErrors, which name fields as the caller spells them.
 */
export function withCheckedCalls<Resource extends object>(
  name: string,
  methods: Resource,
  { specs, nameStyle }: { readonly specs: CallSpecs<Resource>; readonly nameStyle?: NameStyle | undefined },
): Resource {
  const checked = Object.entries<CallSpec>(specs as Readonly<Record<string, CallSpec>>).map(([method, spec]) => {
    const run = methods[method as keyof Resource] as (...args: readonly unknown[]) => unknown
    const call = async (...args: readonly unknown[]): Promise<unknown> => {
      try {
        checkArguments(`${name}.${method}`, spec, args)
        return await run(...args)
      } catch (error) {
        throw nameStyle === 'json' && isGatewayError(error) ? withWireNames(error, spec.input?.fields ?? spec.options ?? {}) : error
      }
    }
    return [method, call]
  })
  return { ...methods, ...Object.fromEntries(checked) }
}

function checkArguments(method: string, { id, input, options }: CallSpec, args: readonly unknown[]): void {
  if (id && typeof args[0] !== 'string') throw invalidValue('id', args[0], 'an id (a string)')
  const given = args[id ? 1 : 0]
  const spec = input ?? (given === undefined || !options ? undefined : { fields: options, mode: 'options' as const })
  if (!spec) return
  if (!isObject(given))
    throw new GatewayError('invalid_request', { message: `\`${method}\` takes an object, with ${Object.keys(spec.fields).join(', ')}.` })
  checkInput(spec, given)
}
