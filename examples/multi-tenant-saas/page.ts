import { html } from 'hono/html'
import { toUsd } from 'signalbox'
import type { Customer } from './customers.ts'

type Html = ReturnType<typeof html>

/** The admin page. `message`: what the last form has done. */
export const adminPage = (customers: readonly Customer[], message?: string): Html => html`<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>Customers</title>
  <h1>Customers</h1>
  ${message && html`<p role="status">${message}</p>`}
  <table>
    <thead>
      <tr>
        <th>Customer</th><th>Requests</th><th>Charged</th><th>With own key</th><th>Credit left</th><th>Budget</th><th>Own key</th><th></th>
      </tr>
    </thead>
    <tbody>${customers.map(row)}</tbody>
  </table>
  <h2>New customer</h2>
  <form method="post" action="/admin/customers">
    <label>Name <input name="name" required pattern=".*[A-Za-z0-9].*"></label>
    <button>Create</button>
  </form>
</html>`

const row = ({ id, name, requests, cost, ownKeyCost, credit, budget, ownKey }: Customer): Html => html`
  <tr id="${id}">
    <td>${name}</td>
    <td>${requests}</td>
    <td>${dollars(cost)}</td>
    <td>${dollars(ownKeyCost)}</td>
    <td>${dollars(credit)}</td>
    <td>${budget ? `${dollars(budget.used)} of ${dollars(budget.limit)}` : 'none'}</td>
    <td>${ownKey ?? 'none'}</td>
    <td>
      ${form({ id, action: 'credit', label: 'Add credit (USD)', field: html`<input name="usd" required inputmode="decimal">` })}
      ${form({ id, action: 'budget', label: 'Monthly budget (USD)', field: html`<input name="usd" required inputmode="decimal">` })}
      ${form({ id, action: 'own-key', label: 'OpenAI key', field: html`<input name="key" required type="password" autocomplete="off">` })}
    </td>
  </tr>`

interface Form {
  readonly id: string
  readonly action: string
  readonly label: string
  readonly field: Html
}

/** `reference` makes each form one payment, however often it is sent. */
const form = ({ id, action, label, field }: Form): Html => html`
  <form method="post" action="/admin/customers/${id}/${action}">
    <input type="hidden" name="reference" value="${crypto.randomUUID()}">
    <label>${label} ${field}</label>
    <button>Save</button>
  </form>`

const dollars = (microdollars: number): string => `$${toUsd(microdollars)}`
