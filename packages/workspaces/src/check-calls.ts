import type { Endpoint, Endpoints } from '@signalbox/core/resources'
import { checkInput, invalidValueError, type NameStyle, optionsOf, withWireNames } from '@signalbox/core/resources'
import { GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import { isObject } from '@signalbox/dialects/protocol'

/**
 * The same methods with their arguments checked, because input may come from JavaScript or a form, where types are not checked. They
 * throw only GatewayErrors, which name fields as the caller spells them.
 */
export function withCheckedCalls<Resource extends object>(
  name: string,
  methods: Resource,
  endpoints: Endpoints,
  nameStyle?: NameStyle,
): Resource {
  const checked = Object.entries(endpoints).map(([method, endpoint]) => {
    const run = methods[method as keyof Resource] as (...args: readonly unknown[]) => unknown
    const call = async (...args: readonly unknown[]): Promise<unknown> => {
      try {
        checkArguments(`${name}.${method}`, endpoint, args)
        return await run(...args)
      } catch (error) {
        throw nameStyle === 'json' && isGatewayError(error)
          ? withWireNames(error, endpoint.input?.fields ?? optionsOf(endpoint) ?? {})
          : error
      }
    }
    return [method, call]
  })
  return { ...methods, ...Object.fromEntries(checked) }
}

function checkArguments(method: string, endpoint: Endpoint, args: readonly unknown[]): void {
  const { id, input } = endpoint
  if (id && typeof args[0] !== 'string') throw invalidValueError('id', args[0], 'an id (a string)')
  const given = args[id ? 1 : 0]
  const fields = optionsOf(endpoint)
  const spec = input ?? (given === undefined || !fields ? undefined : { fields, mode: 'options' as const })
  if (!spec) return
  if (!isObject(given))
    throw new GatewayError('invalid_request', { message: `\`${method}\` takes an object, with ${Object.keys(spec.fields).join(', ')}.` })
  checkInput(spec, given)
}
