// How parameters follow their gradients. Beside toytf/optim.py.

// p = p - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps), with running means m of g and v of g^2
export class Adam {
  constructor(count) {
    Object.assign(this, { beta1: 0.9, beta2: 0.98, eps: 1e-9, t: 0 });
    [this.m, this.v] = [new Float64Array(count), new Float64Array(count)];
  }

  // `params` and `grads` are Float64Arrays of `count` numbers
  step(params, grads, learningRate) {
    const { beta1, beta2, eps, m, v } = this;
    this.t += 1;
    const rate = learningRate / (1 - beta1 ** this.t);
    const correction = 1 - beta2 ** this.t;
    for (let i = 0; i < m.length; i += 1) {
      const g = grads[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      params[i] -= (m[i] / (Math.sqrt(v[i] / correction) + eps)) * rate;
    }
  }
}

// Up in a straight line to `peak`, then down along a cosine that would reach 0 one step after the last
export const cosineSchedule = (peak, warmup, steps) => (t) =>
  t <= warmup ? (peak * t) / warmup : peak * 0.5 * (1 + Math.cos((Math.PI * (t - warmup)) / (steps - warmup + 1)));
