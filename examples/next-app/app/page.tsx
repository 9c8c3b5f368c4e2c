import { toUsd } from 'signalbox'
import { gateway, gatewayUser } from '@/gateway'
import { signedInUser } from '@/session'
import { signIn, signOut } from './actions'
import { Chat } from './chat'

export default async function Page() {
  const user = await signedInUser()
  if (!user)
    return (
      <form action={signIn}>
        <label>
          Name <input name="user" required pattern="\w{1,50}" />
        </label>
        <button type="submit">Sign in</button>
      </form>
    )
  const { budgets } = await gateway.identity(
    await gateway.workspaces('my-app').asUser(gatewayUser(user)),
  )
  return (
    <main>
      <form action={signOut}>
        Signed in as {user}. <button type="submit">Sign out</button>
      </form>
      {budgets.map(({ period, used, limit }) => (
        <p id="spent" key={period}>
          Used today: ${toUsd(used)} of ${toUsd(limit)}
        </p>
      ))}
      <Chat />
    </main>
  )
}
