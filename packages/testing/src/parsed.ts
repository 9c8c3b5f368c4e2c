import { isObject, type JsonObject } from '@signalbox/core/protocol'

/** The object that a text holds, or nothing: what comes in need not be JSON. */
export function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
