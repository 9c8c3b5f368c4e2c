import * as z from 'zod/v4'

/** The credit of a workspace. */
export const balance = () =>
  z.object({
    balance_microdollars: integer('Credit of the workspace.', 12_500_000),
    balance_cents: integer('The same in cents, rounded down as all cents here.', 1_250),
    balance_dollars: z.string().meta({ description: 'The same in dollars, with two places.', example: '12.50' }),
    held_microdollars: integer('Of that credit, what is set aside for requests under way.', 250_000),
    lifetime_purchased_microdollars: integer('All credit that was ever added.', 50_000_000),
    lifetime_purchased_cents: integer('The same in cents.', 5_000),
    lifetime_used_microdollars: integer('All credit that was ever spent.', 37_500_000),
    lifetime_used_cents: integer('The same in cents.', 3_750),
    auto_reload_enabled: z.boolean().meta({ description: 'Whether credit is reloaded.', example: true }),
    auto_reload_threshold_microdollars: integerOrNull('Below this balance, credit is reloaded. null: never set.', 5_000_000),
    auto_reload_threshold_cents: integerOrNull('The same in cents.', 500),
    auto_reload_target_microdollars: integerOrNull('The balance after a reload. null: never set.', 20_000_000),
    auto_reload_target_cents: integerOrNull('The same in cents.', 2_000),
    has_payment_method: z.boolean().meta({ description: 'Whether the operator can charge the workspace.', example: true }),
    byok_monthly_request_cap: integerOrNull(
      'Requests with provider keys of the workspace in a calendar month (UTC). null: any number.',
      null,
    ),
    byok_requests_remaining: integerOrNull('Left of them in this month. null: any number.', null),
  })

const integer = (description: string, example: number | null) => z.int().meta({ description, example })
const integerOrNull = (description: string, example: number | null) => z.int().nullable().meta({ description, example })
