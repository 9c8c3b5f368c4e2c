import { checkRoutingFields, refuse } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Provider, RoutingOptions } from '@signalbox/dialects/protocol'
import { similarNames } from '@signalbox/storage/similar-names'

// Checks of `gateway.routing` that depend on this gateway's configuration, for requests over HTTP and in process.

/**
 * Checks the routing options of a request.
 *
 * @throws 400 that names the invalid field.
 */
export function checkRouting(routing: RoutingOptions, providers: ReadonlyMap<string, Provider>): void {
  checkRoutingFields(routing)
  if (!routing.order && !routing.only && !routing.ignore) return
  for (const field of ['order', 'only', 'ignore'] as const) {
    const at = routing[field]?.findIndex(id => !providers.has(id)) ?? -1
    if (at >= 0) throw unknownProviderError(`gateway.routing.${field}[${at}]`, routing[field]?.[at] ?? '', providers)
  }
  checkContradiction(routing)
}

/** Names that one list requires and another forbids. */
const clashes = [
  { field: 'ignore', other: 'only', named: true, says: 'which is also in `gateway.routing.only`' },
  { field: 'order', other: 'ignore', named: true, says: 'which is also in `gateway.routing.ignore`' },
  { field: 'order', other: 'only', named: false, says: 'which is not in `gateway.routing.only`' },
] as const

function checkContradiction(routing: RoutingOptions): void {
  for (const { field, other, named, says } of clashes) {
    const [list, against] = [routing[field], routing[other]]
    if (!list || !against) continue
    const names = new Set(against)
    const at = list.findIndex(id => names.has(id) === named)
    const param = `gateway.routing.${field}[${at}]`
    if (at >= 0) refuse('invalid_parameter_value', `\`${param}\` is "${list[at]}", ${says}. Change one of the two.`, param)
  }
}

function unknownProviderError(param: string, name: string, providers: ReadonlyMap<string, Provider>): GatewayError {
  const known = [...providers.keys()]
  return misnamed(`${param} names the provider ${quoted(name)}, which this gateway does not have. It has: ${known.join(', ')}.`, {
    param,
    name,
    known,
  })
}

/** The error for an unknown strategy. */
export const unknownStrategyError = (name: string, known: readonly string[], isDefault = false): GatewayError => {
  const param = 'gateway.routing.strategy'
  if (isDefault)
    return new GatewayError('invalid_parameter_value', {
      message: `The workspace's routing defaults name the strategy ${quoted(name)}, which this gateway does not have. Change them, or name one of ${known.join(', ')}.`,
    })
  return misnamed(`${param} is ${quoted(name)}; it takes ${known.join(', ')}.`, { param, name, known })
}

/** A name for a message, quoted and shortened, because names may have any length. */
export const quoted = (name: string): string => JSON.stringify(name.slice(0, 200))

function misnamed(
  message: string,
  { param, name, known }: { readonly param: string; readonly name: string; readonly known: readonly string[] },
): GatewayError {
  const [close] = similarNames(name, known)
  const suggestion = close === undefined ? undefined : `Did you mean "${close}"?`
  return new GatewayError('invalid_parameter_value', {
    message: suggestion === undefined ? message : `${message} ${suggestion}`,
    param,
    suggestion,
  })
}
