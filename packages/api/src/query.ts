import { GatewayError } from '@signalbox/core/errors'

/** A parameter that a row understands. */
export interface QueryParameter {
  readonly name: string
  readonly description: string
  /** All values that it may have. Absent: any. */
  readonly values?: readonly string[]
}

/** The known parameters of a query. No list of known ones: everything is let pass unseen, as probes add their own. */
export function readQuery(known: readonly QueryParameter[] | undefined, query: string): Readonly<Record<string, string>> {
  if (query === '' || known === undefined) return {}
  const found: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = known.find(one => one.name === name)
    if (parameter === undefined) {
      throw new GatewayError('unknown_parameter', {
        message: `There is no query parameter "${name.slice(0, 100)}" here.`,
        param: name.slice(0, 100),
      })
    }
    if (parameter.values?.includes(value) === false || found[name] !== undefined) {
      const allowed = parameter.values?.map(one => `"${one}"`).join(', ') ?? 'one value'
      throw new GatewayError('invalid_parameter_value', { message: `The query parameter "${name}" takes ${allowed}, once.`, param: name })
    }
    found[name] = value
  }
  return found
}
