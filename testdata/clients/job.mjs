// What the scripts share: the job they are given as JSON in their first
// argument, the person's answer to a form, and the one line that they print.
// doc.go says what the fields mean.
export const job = JSON.parse(process.argv[2]);
export const saw = { read: 0, asked: false, code: false, status: '', error: '' };

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export function print() {
  process.stdout.write(JSON.stringify(saw) + '\n');
}

// answer is what the person does with a form, as an MCP elicitation result. It
// never returns where the connection is lost, for then lose ends this process
// and whatever of the client lives beside it.
export async function answer({ message, requestedSchema }, lose = async () => {}) {
  saw.asked = true;
  saw.code = 'confirm_code' in requestedSchema.properties;
  switch (job.answer) {
    case 'accept':
      return { action: 'accept', content: { confirm: true } };
    case 'code': {
      const [, confirm_code] = message.match(/^To approve, type this code into the form: (\S+)$/m);
      return { action: 'accept', content: { confirm: true, confirm_code } };
    }
    case 'empty':
      return { action: 'accept', content: {} };
    case 'late':
    case 'slow':
    case 'kept':
      await sleep(job.think_ms);
      return { action: 'accept', content: { confirm: true } };
    case 'lost':
      print();
      await lose();
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    default: // decline, cancel
      return { action: job.answer };
  }
}

// keep notes how a confirm ended, or what became of it where that is lost.
export async function keep(call, confirm, proposed) {
  let result;
  try {
    result = await confirm();
  } catch (err) {
    saw.error = err.message;
    result = await call('fabric_change_status', { proposal_id: proposed.proposal_id });
    [result] = result.proposals;
  }
  saw.status = result.human_confirmation?.status ?? '';
}

// drive reads, proposes and confirms with a client of the SDK. call(name, args,
// options) makes a tool call and returns its result.
export async function drive(client, callTool) {
  const call = async (name, args, options) => {
    const { structuredContent, content } = await callTool({ name, arguments: args }, options);
    if (structuredContent?.error) throw new Error(JSON.stringify(structuredContent.error));
    return structuredContent ?? JSON.parse(content[0].text);
  };
  saw.read = (await call('fabric_search', { kind: 'port' })).items.length;
  const proposed = await call('fabric_propose_change', job.propose);
  const options = job.answer === 'kept' ? { onprogress: () => {}, resetTimeoutOnProgress: true } : {};
  await keep(call, () => call('fabric_confirm_change', { confirm_token: proposed.confirm_token }, options), proposed);
  await thinking;
  print();
  await client.close();
}

// thinking ends with the person's answer, which may come after the call's end.
let thinking = Promise.resolve();
export const onForm = (request) => (thinking = answer(request.params));
