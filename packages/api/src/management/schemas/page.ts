import * as z from 'zod/v4'
import { integerField, listField } from '../../schema-fields.ts'

/** A page of a list. */
export const pageSchema = (entry: z.ZodType) =>
  z.object({
    object: z.literal('list').describe('Type of the object.'),
    data: listField('The entries.', entry),
    count: integerField('Number of entries on this page.', 1),
    has_more: z.boolean().meta({ description: 'Whether there is a next page.', example: false }),
    next: z.string().nullable().meta({ description: 'Send it as `after` to get the next page. null on the last page.', example: null }),
  })
