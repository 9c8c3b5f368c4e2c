import { toUsd } from 'signalbox'
import { dailyBudget, gateway } from '@/gateway'
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
  return (
    <main>
      <form action={signOut}>
        Signed in as {user}. <button type="submit">Sign out</button>
      </form>
      <p id="spent">
        Used today: ${toUsd(await spentToday(user))} of ${toUsd(dailyBudget)}
      </p>
      <Chat />
    </main>
  )
}

/** Microdollars. */
async function spentToday(user: string): Promise<number> {
  const { cost } = await gateway.workspaces('app').analytics.summary({ user, from: new Date().setUTCHours(0, 0, 0, 0) })
  return cost
}
