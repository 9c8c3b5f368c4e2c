import * as z from 'zod/v4'

export const propagationStatus = () =>
  z
    .literal('pending')
    .nullable()
    .meta({ description: '`pending`: other processes apply the change within 30 seconds. null: it applies everywhere.', example: null })

export const nameWarnings = () =>
  z
    .array(
      z.object({
        code: z.literal('unknown_name').meta({ description: 'There is one code.', example: 'unknown_name' }),
        message: z.string().meta({ description: 'What is wrong.', example: 'This gateway has no provider "exmaple" any more.' }),
        param: z.string().meta({ description: 'The entry of the list.', example: 'blocked_providers[0]' }),
      }),
    )
    .optional()
    .meta({ description: 'Names in the lists that the gateway does not know any more. Absent: it knows all of them.', example: [] })
