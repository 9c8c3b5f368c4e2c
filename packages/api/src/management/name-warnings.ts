import type { Settings } from '@signalbox/core/management'
import { type Fields, wirePath } from '@signalbox/core/resources'

/** Warnings about names that were known when they were set, with the names of fields in JSON. */
export const warningsView = (warnings: Settings['warnings'], fields: Fields) =>
  warnings?.map(warning => ({ ...warning, param: wirePath(warning.param, fields) }))
