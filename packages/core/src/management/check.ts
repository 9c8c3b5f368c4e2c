import { GatewayError } from '../errors/gateway-error.ts'
import { nearestOf } from '../errors/nearest.ts'

// What both ways in, HTTP and in process, are held to. Shapes are the business of check-shape.ts in process and of the schema over HTTP.

/** 400 that names the field, what it got and what it takes: in words, or one of some. */
export function wrong(param: string, got: unknown, takes: string | { readonly oneOf: readonly string[] }): GatewayError {
  const [near] = typeof takes === 'string' || typeof got !== 'string' ? [] : nearestOf(got, takes.oneOf)
  const suggestion = near === undefined ? undefined : `Did you mean "${near}"?`
  const choice = typeof takes === 'string' ? takes : `one of ${takes.oneOf.join(', ')}`
  return new GatewayError('invalid_parameter_value', {
    message: `\`${param}\` is ${told(got)}; it takes ${choice}.${suggestion === undefined ? '' : ` ${suggestion}`}`,
    param,
    ...(suggestion !== undefined && { suggestion }),
  })
}

const told = (got: unknown): string => {
  if (typeof got === 'string') return got.length > 60 ? `a text of ${got.length} characters` : `"${got}"`
  return typeof got === 'object' && got !== null ? 'an object' : String(got)
}

export const absent = (what: string, id: string): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no ${what} "${id.slice(0, 100)}" in this workspace.` })

export function checkText(param: string, text: string, { min = 1, max = 255 } = {}): void {
  if (text.length < min || text.length > max) throw wrong(param, text, `${min} to ${max} characters`)
}

/** Whole and within the bounds, both included. */
export function checkWhole(param: string, value: number, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): void {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw wrong(param, value, max === Number.MAX_SAFE_INTEGER ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`)
}

/** USD as microdollars, above 0 and such that sums stay exact. */
export function microdollarsOf(param: string, usd: number): number {
  const amount = Math.round(usd * 1_000_000)
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > 1e15) throw wrong(param, usd, 'USD, from 0.000001 to 1,000,000,000')
  return amount
}
