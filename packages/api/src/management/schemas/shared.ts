import * as z from 'zod/v4'
import { textField } from '../../schema-fields.ts'

export const propagationStatus = () =>
  z.literal('pending').nullable().meta({
    description: '`pending` if other processes may take up to 30 seconds to apply the change; null if it applies everywhere.',
    example: null,
  })

export const nameWarnings = () =>
  z
    .array(
      z.object({
        code: z
          .literal('unknown_name')
          .meta({ description: 'Code of the warning. `unknown_name` is the only one.', example: 'unknown_name' }),
        message: textField('What is wrong.', 'This gateway no longer has the provider "exmaple".'),
        param: textField('Path of the entry.', 'blocked_providers[0]'),
      }),
    )
    .optional()
    .meta({ description: 'Names in the lists that the gateway no longer knows. Absent if it knows all of them.', example: [] })
