/** Asks for the token. After the login, the same address is shown. */
import { loggedOutBecause, logIn } from '../api/session.js'

export const Login = () => {
  const because = loggedOutBecause.value ?? ''
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get('token') ?? '').trim()
    if (given !== '') logIn(given)
  }
  return (
    <main class="login" id="main">
      <form onSubmit={submit}>
        <h1>Daybook</h1>
        {because !== '' && <p role="alert" class="problem">{because}</p>}
        <label>
          Token
          <input name="token" type="password" autocomplete="off" spellcheck={false} required autoFocus />
          <small>The server printed an admin token at its first start. An admin makes others: <code>daybook token create</code>. It is kept in this tab until the tab is closed.</small>
        </label>
        <div class="buttons"><button type="submit" class="primary">Open the console</button></div>
      </form>
    </main>
  )
}
