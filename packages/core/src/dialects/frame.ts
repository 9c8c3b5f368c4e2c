import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'

/** What a frame holds: an object, nothing of interest, the end mark, or something that is no JSON. */
export type Content = JsonObject | 'nothing' | 'done' | 'broken'

export function readFrame({ data }: Frame): Content {
  if (data === '') return 'nothing'
  if (data === '[DONE]' || data.trim() === '[DONE]') return 'done'
  const value = parse(data)
  if (value === undefined || isTooDeep(data)) return 'broken'
  return isObject(value) ? value : 'nothing'
}

function parse(data: string): Json | undefined {
  try {
    return JSON.parse(data) as Json
  } catch {
    return undefined
  }
}

/** Deeper than any real answer, and than what can be written out again without running out of stack. */
const deepest = 500

/** Of JSON that was parsed; short texts cannot be. */
export function isTooDeep(json: string): boolean {
  if (json.length < 2 * deepest) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfText(json, at)
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > deepest) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

const quote = 0x22
const backslash = 0x5c

function endOfText(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) return at
  }
  return json.length
}
