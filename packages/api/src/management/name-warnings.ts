import { type Fields, wirePath } from '@signalbox/core/resources'
import type { Settings } from '@signalbox/workspaces'

/** Warnings about names that are no longer known, with JSON field names. */
export const warningsView = (warnings: Settings['warnings'], fields: Fields) =>
  warnings?.map(warning => ({ ...warning, param: wirePath(warning.param, fields) }))
