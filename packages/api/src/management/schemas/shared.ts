import * as z from 'zod/v4'

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
        message: z.string().meta({ description: 'What is wrong.', example: 'This gateway no longer has the provider "exmaple".' }),
        param: z.string().meta({ description: 'Path of the entry.', example: 'blocked_providers[0]' }),
      }),
    )
    .optional()
    .meta({ description: 'Names in the lists that the gateway no longer knows. Absent if it knows all of them.', example: [] })
