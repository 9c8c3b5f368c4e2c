import { isObject, type JsonObject } from '@signalbox/dialects/protocol'

/** Parses a JSON object; undefined if the text is not one. */
export function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
