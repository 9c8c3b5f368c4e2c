// Written by packages/client/tools/generate.ts from the route table of @signalbox/api; a test keeps it true.

/**
 * The methods, one a line: name, HTTP method, path, and where the argument after the ids goes. `LIST` is a GET of pages, `FILE` one of a
 * file; `~` begins the path of a workspace, `:` is an id, `*` an id that may hold slashes.
 */
export const methods = `models.list GET /v1/models query
models.get GET /v1/models/*
registry.models GET /v1/registry/models
registry.providers GET /v1/registry/providers query
directory.models GET /v1/directory/models query
byokProviders.list GET /v1/byok/providers
byokProviders.tiers GET /v1/byok/providers/:/tiers
me GET /v1/me
apiKeys.create POST ~/api-keys body
apiKeys.list LIST ~/api-keys query
apiKeys.get GET ~/api-keys/:
apiKeys.update PATCH ~/api-keys/: body
apiKeys.revoke DELETE ~/api-keys/: query
apiKeys.usage GET ~/api-keys/:/usage query
budgets.create POST ~/budgets body
budgets.list LIST ~/budgets query
budgets.get GET ~/budgets/:
budgets.update PATCH ~/budgets/: body
budgets.delete DELETE ~/budgets/:
billing.balance GET ~/billing/balance
billing.credit POST ~/billing/credits body
billing.ledger LIST ~/billing/ledger query
billing.autoReload.update PATCH ~/billing/auto-reload body
subscription.get GET ~/subscription
byokKeys.create POST ~/byok-keys body
byokKeys.list LIST ~/byok-keys query
byokKeys.get GET ~/byok-keys/:
byokKeys.update PATCH ~/byok-keys/: body
byokKeys.validate POST ~/byok-keys/:/validate
byokKeys.delete DELETE ~/byok-keys/:
sessions.create POST ~/sessions body
sessions.list LIST ~/sessions query
sessions.revoke DELETE ~/sessions/:
settings.get GET ~/settings
settings.update PATCH ~/settings body
routingDefaults.get GET ~/routing-defaults
routingDefaults.update PATCH ~/routing-defaults body
members.list LIST ~/members query
members.update PATCH ~/members/: body
members.remove DELETE ~/members/:
invites.list LIST ~/invites query
invites.create POST ~/invites body
invites.revoke DELETE ~/invites/:
invites.accept POST /v1/invites/accept body
auditEvents.list LIST ~/audit-events query
auditEvents.verify GET ~/audit-events/verify
analytics.summary GET ~/analytics/summary query
analytics.trends GET ~/analytics/trends query
analytics.requests LIST ~/analytics/requests query
analytics.request GET ~/analytics/requests/:
analytics.routing GET ~/analytics/requests/:/routing
analytics.export FILE ~/analytics/export query`
