import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../postgres.ts'
import { adviceFor } from './start-advice.ts'

/** A message of PostgreSQL 15, PgBouncer 1.18 or `pg` 8, and what its advice names. */
const messages: readonly (readonly [message: string, advice: RegExp | undefined])[] = [
  ['unsupported startup parameter: statement_timeout', /`prepare: false`/],
  ['prepared statement "signalbox_1" does not exist', /`prepare: false`/],
  ['prepared statement "signalbox_1" already exists', /`prepare: false`/],
  ['no pg_hba.conf entry for host "10.0.0.1", user "app", database "app", no encryption', /\?sslmode=require/],
  ['no pg_hba.conf entry for host "10.0.0.1", user "app", database "app", SSL off', /\?sslmode=require/],
  ['no pg_hba.conf entry for host "10.0.0.1", user "app", database "app", SSL encryption', /pg_hba\.conf/],
  ['The server does not support SSL connections', /Leave `sslmode` out/],
  ['self-signed certificate in certificate chain', /sslrootcert=FILE/],
  ['password authentication failed for user "app"', /user and password/],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', /user and password/],
  ['role "app" does not exist', /user and password/],
  ['database "app" does not exist', /Create the database/],
  ['no such database: app', /Create the database/],
  ['permission denied for database app', /`schema`/],
  ['permission denied for schema app', /GRANT USAGE, CREATE/],
  ['permission denied for table records', /`migrate: false`/],
  ['must be owner of table usage', /`migrate: false`/],
  ['deadlock detected', undefined],
]

test.each(messages)('%s', (message, advice) => {
  const found = adviceFor(new Error('not sent', { cause: new Error(message) }))
  if (advice) expect(found).toMatch(advice)
  else expect(found).toBeUndefined()
})

/** A server that answers each start of a connection with an error, as a pooler does with a parameter that it does not know. */
async function refusingServer(fields: Readonly<Record<string, string>>): Promise<number> {
  const text = Object.entries(fields).map(([name, value]) => `${name}${value}\0`)
  const body = Buffer.from(`${text.join('')}\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeInt32BE(body.length + 4, 1)
  const server = createServer(socket => void socket.once('data', () => socket.end(Buffer.concat([head, body]))))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('a pooler that knows no statement_timeout: the first error of the storage names `prepare: false`', async () => {
  const port = await refusingServer({ S: 'FATAL', C: '08P01', M: 'unsupported startup parameter: statement_timeout' })
  const storage = postgresStorage(`postgres://me:secret@127.0.0.1:${port}/app`)
  onTestFinished(() => storage.close())
  await expect(storage.ping()).rejects.toThrow(/unsupported startup parameter: statement_timeout\. .*set `prepare: false`\.$/)
})
