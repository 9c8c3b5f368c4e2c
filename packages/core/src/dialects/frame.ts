import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'

/** What a frame holds: an object, nothing of interest, the end mark, or something that is no JSON. */
export type Content = JsonObject | 'nothing' | 'done' | 'broken'

export function readFrame({ data }: Frame): Content {
  if (data === '') return 'nothing'
  if (data === '[DONE]' || data.trim() === '[DONE]') return 'done'
  const value = parse(data)
  if (value === undefined) return 'broken'
  return isObject(value) ? value : 'nothing'
}

function parse(data: string): Json | undefined {
  try {
    return JSON.parse(data) as Json
  } catch {
    return undefined
  }
}
