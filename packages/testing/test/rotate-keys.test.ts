import { createApi } from '@signalbox/api'
import { createGateway, usd } from '@signalbox/gateway'
import { expect, onTestFinished, test } from 'vitest'
import { fakeClock } from '../src/index.ts'
import { ask } from './matrix/asking.ts'
import { storesFor } from './stores.ts'

// A key whose secret is replaced: both secrets work for a while, and the key stays the same.

const hourMs = 3_600_000

for (const { describeHere, name, make } of await storesFor(`rotate_${process.pid}`)) {
  describeHere(name, () => {
    /** Two gateways on one storage, as in two processes. */
    const testbed = async () => {
      const clock = fakeClock()
      const storage = make()
      const [here, there] = [1, 2].map(() => createGateway({ providers: [], models: [], storage, clock, logger: quiet }))
      if (!here || !there) throw new Error('There are two gateways.')
      onTestFinished(() => Promise.all([here, there].map(gateway => gateway.close())).then(() => {}))
      const { id } = await here.workspaces.create({ name: 'W' })
      const { apiKeys, auditEvents, budgets } = here.workspaces(id)
      const made = await apiKeys.create({ name: 'k', scopes: ['keys:write'], budget: { limit: usd(1) } })
      const isTaken = async (gateway: typeof here, secret: string) =>
        gateway.authenticate(secret).then(
          ({ keyId }) => keyId,
          () => 'refused',
        )
      return { clock, here, there, workspaceId: id, apiKeys, auditEvents, budgets, made, isTaken }
    }

    test('the key keeps its id, budget and children, and both secrets work until the old one ends, in every process', async () => {
      const { clock, here, there, workspaceId, apiKeys, auditEvents, budgets, made, isTaken } = await testbed()
      const api = createApi(here)
      const path = `/v1/workspaces/${workspaceId}/api-keys`
      const child = (await ask({ api, secret: made.secret }, `POST ${path}`, { body: { name: 'child', scopes: ['keys:write'] } })).json
      expect(await isTaken(there, made.secret)).toBe(made.id)
      const endsAt = clock.now() + hourMs
      const { status, json } = await ask({ api, secret: made.secret }, `POST ${path}/${made.id}/rotate`, { body: { grace_period: 3_600 } })
      expect([status, json]).toMatchObject([202, { id: made.id, name: 'k', previous_secret_expires_at: new Date(endsAt).toISOString() }])
      const renewed = json.api_key
      expect(renewed).not.toBe(made.secret)
      await clock.advance(hourMs - 1_000)
      for (const gateway of [here, there]) for (const secret of [made.secret, renewed]) expect(await isTaken(gateway, secret)).toBe(made.id)
      await clock.advance(1_000)
      for (const gateway of [here, there])
        expect([await isTaken(gateway, made.secret), await isTaken(gateway, renewed)]).toEqual(['refused', made.id])
      expect(await isTaken(there, child.api_key)).toBe(child.id)
      expect(await budgets.list()).toMatchObject([{ apiKeyId: made.id }])
      expect((await apiKeys.list()).map(({ id }) => id)).toEqual([made.id, child.id])
      expect((await auditEvents.list({ event: 'api_key.updated' })).map(({ actorKeyId, subjectId }) => [actorKeyId, subjectId])).toEqual([
        [made.id, made.id],
      ])
      await expect(apiKeys.create({ name: 'again', secret: made.secret })).rejects.toMatchObject({ code: 'duplicate_resource' })
    })

    test('revocation ends both secrets, a rotation without a grace period all earlier ones, and a revoked key is not rotated', async () => {
      const { here, apiKeys, made, isTaken } = await testbed()
      const second = await apiKeys.rotate(made.id)
      const third = await apiKeys.rotate(made.id)
      const secrets = [made.secret, second.secret, third.secret]
      expect(await Promise.all(secrets.map(secret => isTaken(here, secret)))).toEqual([made.id, made.id, made.id])
      const fourth = await apiKeys.rotate(made.id, { gracePeriod: 0 })
      expect(await Promise.all([...secrets, fourth.secret].map(secret => isTaken(here, secret)))).toEqual([
        'refused',
        'refused',
        'refused',
        made.id,
      ])
      const fifth = await apiKeys.rotate(made.id)
      await apiKeys.revoke(made.id)
      for (const { secret } of [fourth, fifth]) expect(await isTaken(here, secret)).toBe('refused')
      await expect(apiKeys.rotate(made.id)).rejects.toMatchObject({ code: 'state_precondition_failed' })
    })

    test('rotations at the same time lose no secret: each that was returned works', async () => {
      const { clock, here, there, workspaceId, made, isTaken } = await testbed()
      let isOver = false
      const rotating = Promise.all([here, there, here].map(gateway => gateway.workspaces(workspaceId).apiKeys.rotate(made.id))).finally(
        () => {
          isOver = true
        },
      )
      // A change that another writer overtook is tried again after a random wait.
      while (!isOver) {
        await clock.advance(1)
        await new Promise(resolve => setTimeout(resolve, 2))
      }
      const all = await rotating
      for (const { secret } of [made, ...all]) expect(await isTaken(here, secret)).toBe(made.id)
    })

    test('the grace period is at most seven days, and at most ten replaced secrets are valid', async () => {
      const { apiKeys, made } = await testbed()
      for (const gracePeriod of [-1, 604_801, 1.5])
        await expect(apiKeys.rotate(made.id, { gracePeriod })).rejects.toMatchObject({ facts: { param: 'gracePeriod' } })
      for (let times = 0; times < 10; times += 1) await apiKeys.rotate(made.id, { gracePeriod: 604_800 })
      await expect(apiKeys.rotate(made.id)).rejects.toMatchObject({
        code: 'state_precondition_failed',
        message: expect.stringContaining('grace period of 0'),
      })
    })

    test('a rotation without a grace period is never refused, however often the key was rotated before', async () => {
      const { here, apiKeys, made, isTaken } = await testbed()
      for (let times = 0; times < 10; times += 1) await apiKeys.rotate(made.id, { gracePeriod: 604_800 })
      const { secret } = await apiKeys.rotate(made.id, { gracePeriod: 0 })
      expect([await isTaken(here, made.secret), await isTaken(here, secret)]).toEqual(['refused', made.id])
      expect((await apiKeys.rotate(made.id)).id).toBe(made.id)
    })

    test('a replaced secret rotates neither its key nor one below it, in no process, and the error says what to use', async () => {
      const { here, there, workspaceId, apiKeys, made, isTaken } = await testbed()
      const path = `/v1/workspaces/${workspaceId}/api-keys`
      const [api, other] = [createApi(here), createApi(there)]
      const child = (await ask({ api, secret: made.secret }, `POST ${path}`, { body: { name: 'child', scopes: ['keys:write'] } })).json
      // The other process still knows the key as it was before.
      expect(await isTaken(there, made.secret)).toBe(made.id)
      const { secret } = await apiKeys.rotate(made.id)
      for (const of of [api, other])
        for (const id of [made.id, child.id])
          expect(await ask({ api: of, secret: made.secret }, `POST ${path}/${id}/rotate`, { body: { grace_period: 0 } })).toMatchObject({
            status: 403,
            json: { error: { message: expect.stringContaining('Use the new secret') } },
          })
      expect(await isTaken(here, secret)).toBe(made.id)
      expect(await ask({ api, secret }, `POST ${path}/${made.id}/rotate`, { body: { grace_period: 0 } })).toMatchObject({ status: 202 })
    })
  })
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
