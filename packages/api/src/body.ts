import { type Step, wait } from '@signalbox/core/runtime'
import { excessIn, type JsonCaps } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import { bodyCaps, isObject, type JsonObject, largeBody } from '@signalbox/dialects/protocol'
import { checkBody } from '@signalbox/gateway/in-process'
import type { ApiRequest, BodyText } from './api.ts'
import { maxDecodedRatio } from './decoded-size.ts'
import type { Settings } from './settings.ts'
import type { Upload } from './uploads.ts'

/**
 * Reads the body as text. Throws if it is too large, incomplete, or exceeds the memory shared with other bodies. `visit.close` is set if
 * bytes were left unread.
 */
export function* readBody(visit: {
  readonly request: ApiRequest
  readonly site: { readonly settings: Pick<Settings, 'maxBodyBytes'> }
  /** Absent if the body is in memory already. */
  readonly upload: Upload | undefined
  close: boolean
  /** Headers of the reply, if it is an error. */
  headers: Readonly<Record<string, string>> | undefined
}): Step<string> {
  const { request, upload } = visit
  const limit = visit.site.settings.maxBodyBytes
  const coding = codingOf(request)
  const codings = request.codings ?? []
  if (coding !== undefined && !codings.includes(coding)) {
    // RFC 9110, 15.5.16
    visit.headers = { 'accept-encoding': [...codings, 'identity'].join(', ') }
    throw unknownCodingError(codings)
  }
  checkType(request)
  let refusal = upload?.claim(announced(request, limit))
  if (refusal) throw refusal
  const onBytes = (bytes: number): boolean => {
    refusal = upload?.claim(bytes)
    return refusal === undefined
  }
  const read = yield* wait(upload ? request.text(limit, onBytes, coding) : request.text(limit, undefined, coding))
  if (read.ok) return read.text
  visit.close = true
  if (refusal) throw refusal
  throw read.why === 'not_decodable' ? invalidBodyError(`The request body is not valid ${coding}.`) : bodyError(read.why, limit)
}

/** The announced length. 0 if there is none, or if the body is refused anyway because it is too large. */
function announced(request: ApiRequest, limit: number): number {
  const length = Number(request.header('content-length') ?? 0)
  return length <= limit ? length : 0
}

function bodyError(why: Extract<BodyText, { ok: false }>['why'], limit: number): GatewayError {
  if (why === 'too_large') return bodyTooLargeError(limit)
  if (why === 'bomb') return compressionRatioError()
  if (why === 'consumed') return bodyAlreadyReadError()
  return invalidBodyError(why === 'not_utf8' ? 'The request body is not valid UTF-8.' : 'The request body is incomplete.')
}

/** A fault of the app, because the client did send a body. */
const bodyAlreadyReadError = (): GatewayError =>
  new GatewayError('internal_error', {
    message: 'The request body was already read by a body parser or by the app. Mount the gateway before it.',
  })

const bodyTooLargeError = (limit: number): GatewayError =>
  new GatewayError('request_too_large', { message: `The request body is larger than the limit of ${limit} bytes.` })

const compressionRatioError = (): GatewayError =>
  new GatewayError('request_too_large', {
    message: `The request body is more than ${maxDecodedRatio} times as large as what was sent. Send it without compression.`,
  })

const invalidBodyError = (message: string): GatewayError => new GatewayError('invalid_request', { message })

const jsonType = /^\s*application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i
const charsetOf = /;\s*charset\s*=\s*"?([^\s";]*)/i

/** The content coding of the body; undefined if it has none. */
export function codingOf(request: Pick<ApiRequest, 'header'>): string | undefined {
  const coding = request.header('content-encoding')?.trim().toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return undefined
  return coding === 'x-gzip' ? 'gzip' : coding
}

const unknownCodingError = (codings: readonly string[]): GatewayError =>
  new GatewayError('unsupported_media_type', {
    message:
      codings.length === 0
        ? 'Compressed request bodies are not supported here. Send the body without Content-Encoding.'
        : `The Content-Encoding of the body is not supported. Send one of ${codings.join(', ')}, or the body as it is.`,
  })

function checkType(request: ApiRequest): void {
  const type = request.header('content-type')
  if (type !== undefined && type !== '' && !jsonType.test(type)) {
    throw new GatewayError('unsupported_media_type', { message: 'The body must be JSON. Send Content-Type: application/json.' })
  }
  const charset = type === undefined ? undefined : charsetOf.exec(type)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new GatewayError('unsupported_media_type', {
      message: 'The body must be UTF-8. Send Content-Type: application/json; charset=utf-8.',
    })
  }
}

/** Parses a JSON object, checked for what no schema sees: depth, prototype keys, broken text. */
export function parseBody(text: string): JsonObject {
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (clean.trim() === '') throw invalidBodyError('The request has no body. Send a JSON object.')
  checkLimits(clean)
  const value = parse(clean)
  if (!isObject(value)) throw invalidBodyError('The request body must be a JSON object.')
  // Text decoded from UTF-8 contains lone surrogates or hidden keys only as escapes, so most bodies need no check of their strings.
  const escaped = clean.includes('\\u')
  checkBody(value, { keys: escaped || clean.includes('__proto__'), texts: escaped })
  return value
}

/** An empty array or object counts twice as a value here, by its bracket and by the comma after it. */
const jsonCaps: JsonCaps = { fields: bodyCaps.fields, fieldName: bodyCaps.fieldName, values: 2 * bodyCaps.values }

/**
 * Throws `invalid_request` if parsing the text would take too long: ten million empty arrays take seconds, and so do some hundred long names
 * of fields. A value takes at least two characters, as in `1,`, so a short text cannot contain too many.
 */
function checkLimits(text: string): void {
  if (text.length < 2 * bodyCaps.values) return
  let escapes = 0
  for (let index = text.indexOf('\\'); index !== -1; index = text.indexOf('\\', index + 1))
    if (++escapes > bodyCaps.escapes) throw tooDenseError(`${bodyCaps.escapes} escaped characters`, '')
  const excess = excessIn(text, jsonCaps)
  if (excess?.cap === 'fieldName')
    throw invalidBodyError(`The name of a field of the request body is longer than ${bodyCaps.fieldName} characters.`)
  if (excess?.cap === 'fields') throw tooDenseError(`${bodyCaps.fields} fields`, excess.field)
  if (excess) throw tooDenseError(`${bodyCaps.values} values`, excess.field)
}

const tooDenseError = (what: string, field: string): GatewayError =>
  new GatewayError('invalid_request', {
    message: `The request body has more than ${what} in total.${field && ` The limit was reached in \`${field}\`.`} Send fewer.`,
    param: field || undefined,
  })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the body, which may contain secrets.
    throw invalidBodyError('The request body is not valid JSON.')
  }
}

export const isLargeText = (text: string): boolean => text.length > largeBody
