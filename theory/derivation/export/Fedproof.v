(* What exported derivations stand on: finite sums and means, finite probability spaces, real inner product spaces,
   functions with gradients and what is assumed of them. Everything is proved from the Reals of the standard library. *)
Require Import Reals Lra Lia Arith ZArith QArith Qreals List.
Open Scope R_scope.

(* --- equations of polynomials with rational coefficients, decided by computing ------------------------------------ *)

Inductive formula :=
| Fv (n : positive) | Fz (c : Z) | Fq (c : Z) (d : positive) | Fi (d : positive)
| Fa (p q : formula) | Fs (p q : formula) | Fm (p q : formula) | Fo (p : formula) | Fp (p : formula) (n : nat).

Module Poly.
Open Scope R_scope.
Fixpoint number (l : list R) (n : positive) : R :=
  match l with nil => 0 | cons x r => match n with xH => x | _ => number r (Pos.pred n) end end.
Fixpoint value (l : list R) (p : formula) : R :=
  match p with
  | Fv n => number l n | Fz c => IZR c | Fq c d => IZR c / IZR (Zpos d) | Fi d => / IZR (Zpos d)
  | Fa p q => value l p + value l q | Fs p q => value l p - value l q | Fm p q => value l p * value l q
  | Fo p => - value l p | Fp p n => value l p ^ n end.

Local Notation term := (prod (list positive) Q).
Fixpoint merged (a : list positive) : list positive -> list positive :=
  fix go (b : list positive) :=
    match a, b with
    | nil, _ => b
    | _, nil => a
    | cons x a', cons y b' => match Pos.compare x y with Gt => cons y (go b') | _ => cons x (merged a' b) end
    end.
Fixpoint lex (a b : list positive) : comparison :=
  match a, b with
  | nil, nil => Eq | nil, _ => Lt | _, nil => Gt
  | cons x a', cons y b' => match Pos.compare x y with Eq => lex a' b' | c => c end
  end.
Definition compared (a b : list positive) : comparison :=
  match Nat.compare (length a) (length b) with Eq => lex a b | c => c end.
Fixpoint plus_of (p : list term) : list term -> list term :=
  fix go (q : list term) :=
    match p, q with
    | nil, _ => q
    | _, nil => p
    | cons (m, c) p', cons (n, d) q' =>
      match compared m n with
      | Eq => let e := Qred (c + d) in if Qeq_bool e 0 then plus_of p' q' else cons (m, e) (plus_of p' q')
      | Lt => cons (m, c) (plus_of p' q)
      | Gt => cons (n, d) (go q')
      end
    end.
Definition scaled_by (m : list positive) (c : Q) (p : list term) : list term :=
  List.map (fun t => (merged m (fst t), Qred (c * snd t))) p.
Fixpoint product_of (p q : list term) : list term :=
  match p with nil => nil | cons (m, c) p' => plus_of (scaled_by m c q) (product_of p' q) end.
Fixpoint power_of (p : list term) (n : nat) : list term :=
  match n with O => cons (nil, 1%Q) nil | S m => product_of p (power_of p m) end.
Definition constant (c : Q) : list term := if Qeq_bool c 0 then nil else cons (nil, c) nil.
Section Reading.
Context (look : positive -> list term).
Fixpoint form_of (p : formula) : list term :=
  match p with
  | Fv n => look n
  | Fz c => constant (inject_Z c)
  | Fq c d => constant (Qred (c # d))
  | Fi d => constant (1 # d)
  | Fa p q => plus_of (form_of p) (form_of q)
  | Fs p q => plus_of (form_of p) (scaled_by nil (-1) (form_of q))
  | Fm p q => product_of (form_of p) (form_of q)
  | Fo p => scaled_by nil (-1) (form_of p)
  | Fp p n => power_of (form_of p) n
  end.
End Reading.
Definition itself (n : positive) : list term := cons (cons n nil, 1%Q) nil.
(* Names that stand for formulas. *)
Fixpoint look_up (names : list (positive * formula)) (n : positive) : list term :=
  match names with
  | nil => itself n
  | cons (m, p) r => if Pos.eqb n m then form_of itself p else look_up r n
  end.

Section Forms.
Variable l : list R.
Fixpoint of_names (a : list positive) : R := match a with nil => 1 | cons x r => number l x * of_names r end.
Fixpoint of_form (p : list term) : R := match p with nil => 0 | cons t r => Q2R (snd t) * of_names (fst t) + of_form r end.

Lemma of_merged a b : of_names (merged a b) = of_names a * of_names b.
Proof.
  revert b. induction a as [|x a IH]; intros b; [destruct b; simpl; ring|].
  induction b as [|y b IHb]; [simpl; ring|]. simpl. destruct (Pos.compare x y); simpl; [rewrite IH; simpl; ring|rewrite IH; simpl; ring|].
  change (number l y * of_names (merged (cons x a) b) = number l x * of_names a * (number l y * of_names b)).
  rewrite IHb. simpl. ring.
Qed.
Lemma lex_eq a b : lex a b = Eq -> a = b.
Proof.
  revert b. induction a as [|x a IH]; intros [|y b]; simpl; try discriminate; [reflexivity|].
  destruct (Pos.compare x y) eqn:H; try discriminate. intros Q. apply Pos.compare_eq in H. rewrite H, (IH b Q). reflexivity.
Qed.
Lemma compared_eq a b : compared a b = Eq -> a = b.
Proof. unfold compared. destruct (Nat.compare _ _); try discriminate. apply lex_eq. Qed.
Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma Q2R_null q : Qeq_bool q 0 = true -> Q2R q = 0.
Proof. intros H. rewrite (Qeq_eqR q 0 (Qeq_bool_eq q 0 H)). unfold Q2R. simpl. field. Qed.
Lemma of_cons m c r : of_form (cons (m, c) r) = Q2R c * of_names m + of_form r.
Proof. reflexivity. Qed.
Lemma plus_of_cons m c p n d q : plus_of (cons (m, c) p) (cons (n, d) q) =
  match compared m n with
  | Eq => if Qeq_bool (Qred (c + d)) 0 then plus_of p q else cons (m, Qred (c + d)) (plus_of p q)
  | Lt => cons (m, c) (plus_of p (cons (n, d) q))
  | Gt => cons (n, d) (plus_of (cons (m, c) p) q)
  end.
Proof. reflexivity. Qed.
Lemma of_plus p q : of_form (plus_of p q) = of_form p + of_form q.
Proof.
  revert q. induction p as [|[m c] p IH]; intros q; [destruct q; simpl; ring|].
  induction q as [|[n d] q IHq]; [simpl; ring|]. rewrite plus_of_cons. destruct (compared m n) eqn:H.
  - apply compared_eq in H. subst n. destruct (Qeq_bool (Qred (c + d)) 0) eqn:Z.
    + rewrite IH. apply Q2R_null in Z. rewrite Q2R_red, Q2R_plus in Z. cbn [of_form fst snd].
      replace (Q2R d) with (- Q2R c) by lra. ring.
    + rewrite !of_cons, IH, Q2R_red, Q2R_plus. ring.
  - rewrite !of_cons, IH, !of_cons. ring.
  - rewrite !of_cons, IHq, !of_cons. ring.
Qed.
Lemma of_scaled m c p : of_form (scaled_by m c p) = Q2R c * of_names m * of_form p.
Proof.
  induction p as [|[n d] p IH]; [simpl; ring|]. unfold scaled_by in *. cbn [of_form List.map fst snd].
  rewrite IH, of_merged, Q2R_red, Q2R_mult. ring.
Qed.
Lemma of_product p q : of_form (product_of p q) = of_form p * of_form q.
Proof. induction p as [|[m c] p IH]; cbn [product_of of_form fst snd]; [ring|]. rewrite of_plus, of_scaled, IH. ring. Qed.
Lemma Q2R_one : Q2R 1 = 1.
Proof. unfold Q2R. simpl. field. Qed.
Lemma Q2R_minus_one : Q2R (-1) = -1.
Proof. unfold Q2R. simpl. field. Qed.
Lemma of_power p n : of_form (power_of p n) = of_form p ^ n.
Proof.
  induction n as [|n IH]; cbn [power_of pow of_form fst snd of_names]; [rewrite Q2R_one; ring|].
  rewrite of_product, IH. reflexivity.
Qed.
Lemma of_constant c : of_form (constant c) = Q2R c.
Proof. unfold constant. destruct (Qeq_bool c 0) eqn:H; simpl; [symmetry; apply Q2R_null, H|ring]. Qed.
Lemma of_reading look p : (forall n, of_form (look n) = number l n) -> of_form (form_of look p) = value l p.
Proof.
  intros Look. induction p; cbn [form_of value].
  - apply Look.
  - rewrite of_constant. unfold Q2R. simpl. field.
  - rewrite of_constant, Q2R_red. reflexivity.
  - rewrite of_constant. unfold Q2R, Qnum, Qden. rewrite Rmult_1_l. reflexivity.
  - rewrite of_plus, IHp1, IHp2. reflexivity.
  - rewrite of_plus, of_scaled, IHp1, IHp2, Q2R_minus_one. simpl. ring.
  - rewrite of_product, IHp1, IHp2. reflexivity.
  - rewrite of_scaled, IHp, Q2R_minus_one. simpl. ring.
  - rewrite of_power, IHp. reflexivity.
Qed.

Lemma of_itself n : of_form (itself n) = number l n.
Proof. simpl. rewrite Q2R_one. ring. Qed.
Fixpoint stand_for (names : list (positive * formula)) : Prop :=
  match names with nil => True | cons (n, p) r => number l n = value l p /\ stand_for r end.
Lemma of_look_up names n : stand_for names -> of_form (look_up names n) = number l n.
Proof.
  induction names as [|[m p] r IH]; intros H; [apply of_itself|]. destruct H as [H R0]. cbn [look_up].
  destruct (Pos.eqb_spec n m) as [->|D]; [|apply IH, R0]. rewrite H. apply of_reading, of_itself.
Qed.
(* An equation that follows from others, given how: each with what it is multiplied with. *)
Fixpoint all_hold (given : list (formula * formula * formula)) : Prop :=
  match given with nil => True | cons (_, p, q) r => value l p = value l q /\ all_hold r end.
Fixpoint sum_of (given : list (formula * formula * formula)) : formula :=
  match given with nil => Fz 0 | cons (c, p, q) r => Fa (Fm c (Fs p q)) (sum_of r) end.
Lemma sum_holds given : all_hold given -> value l (sum_of given) = 0.
Proof.
  induction given as [|[[c p] q] r IH]; intros H; [reflexivity|]. destruct H as [H R]. simpl. rewrite H, (IH R). ring.
Qed.
Definition follows names (p q : formula) given : bool :=
  match form_of (look_up names) (Fs (Fs p q) (sum_of given)) with nil => true | _ => false end.
Lemma equation names p q given :
  stand_for names -> all_hold given -> follows names p q given = true -> value l p = value l q.
Proof.
  intros N H F. apply Rminus_diag_uniq. unfold follows in F.
  destruct (form_of (look_up names) (Fs (Fs p q) (sum_of given))) eqn:Z; [|discriminate].
  pose proof (of_reading (look_up names) (Fs (Fs p q) (sum_of given)) (fun n => of_look_up names n N)) as V.
  rewrite Z in V. cbn [of_form value] in V. rewrite (sum_holds given H) in V. lra.
Qed.
End Forms.
End Poly.

(* --- sums and means over 0, ..., n - 1 --------------------------------------------------------------------------- *)

Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.
Definition mean (n : nat) (f : nat -> R) : R := / INR n * sum n f.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [|n IH]; intros H; simpl; [reflexivity|]. rewrite IH, H by (intros; try apply H; lia). reflexivity. Qed.
Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_lin n c f g : sum n (fun i => c * f i + g i) = c * sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma sum_one n : sum n (fun _ => 1) = INR n.
Proof. induction n as [|n IH]; [reflexivity|]. rewrite S_INR. simpl sum. rewrite IH. reflexivity. Qed.
Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl.
  - symmetry. apply sum_zero.
  - rewrite IH. symmetry. rewrite sum_plus. reflexivity.
Qed.
Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof. induction n as [|n IH]; intros H; simpl; [lra|]. apply Rplus_le_compat; [apply IH; intros; apply H|apply H]; lia. Qed.
Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n). apply sum_le, H. Qed.
Lemma sum_at n m f : (m < n)%nat -> sum n (fun i => if Nat.eqb i m then f i else 0) = f m.
Proof.
  intros H. induction n as [|n IH]; [lia|]. simpl. destruct (Nat.eqb_spec n m) as [->|D].
  - rewrite (sum_ext m _ (fun _ => 0)), sum_zero; [ring|].
    intros i Hi. destruct (Nat.eqb_spec i m); [lia|reflexivity].
  - rewrite IH by lia. ring.
Qed.

Lemma INR_pos n : (1 <= n)%nat -> 0 < INR n.
Proof. intros. apply lt_0_INR. lia. Qed.
Lemma INR_neq n : (1 <= n)%nat -> INR n <> 0.
Proof. intros H. apply Rgt_not_eq, INR_pos, H. Qed.

Lemma mean_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> mean n f = mean n g.
Proof. intros H. unfold mean. rewrite (sum_ext n f g H). reflexivity. Qed.
Lemma mean_zero n : mean n (fun _ => 0) = 0.
Proof. unfold mean. rewrite sum_zero. ring. Qed.
Lemma mean_lin n c f g : mean n (fun i => c * f i + g i) = c * mean n f + mean n g.
Proof. unfold mean. rewrite sum_lin. ring. Qed.
Lemma mean_scal n c f : mean n (fun i => c * f i) = c * mean n f.
Proof. unfold mean. rewrite sum_scal. ring. Qed.
Lemma mean_one n : (1 <= n)%nat -> mean n (fun _ => 1) = 1.
Proof. intros H. unfold mean. rewrite sum_one. field. apply INR_neq, H. Qed.
Lemma mean_const n c : (1 <= n)%nat -> mean n (fun _ => c) = c.
Proof. intros H. rewrite (mean_ext n _ (fun _ => c * 1)) by (intros; ring). rewrite mean_scal, mean_one by exact H. ring. Qed.
Lemma mean_swap n m (f : nat -> nat -> R) :
  mean n (fun i => mean m (fun j => f i j)) = mean m (fun j => mean n (fun i => f i j)).
Proof. unfold mean. rewrite !sum_scal, sum_swap. ring. Qed.
Lemma sum_mean n m (f : nat -> nat -> R) :
  mean m (fun j => sum n (fun i => f i j)) = sum n (fun i => mean m (fun j => f i j)).
Proof. unfold mean. rewrite sum_scal, sum_swap. ring. Qed.
Lemma mean_le n f g : (1 <= n)%nat -> (forall i, (i < n)%nat -> f i <= g i) -> mean n f <= mean n g.
Proof. intros P H. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat, INR_pos, P|apply sum_le, H]. Qed.
Lemma mean_nonneg n f : (1 <= n)%nat -> (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= mean n f.
Proof. intros P H. rewrite <- (mean_zero n). apply mean_le; assumption. Qed.

(* --- finite probability spaces ------------------------------------------------------------------------------------ *)

Record chances := {
  outcomes : nat;
  weight : nat -> R;
  weight_nonneg : forall w, 0 <= weight w;
  weight_total : sum outcomes weight = 1 }.
Definition E (P : chances) (X : nat -> R) : R := sum (outcomes P) (fun w => weight P w * X w).

Section Expectation.
Context (P : chances).
Lemma E_ext X Y : (forall w, (w < outcomes P)%nat -> X w = Y w) -> E P X = E P Y.
Proof. intros H. apply sum_ext. intros. rewrite H by assumption. reflexivity. Qed.
Lemma E_lin c X Y : E P (fun w => c * X w + Y w) = c * E P X + E P Y.
Proof.
  unfold E. rewrite <- sum_lin. apply sum_ext. intros. ring.
Qed.
Lemma E_scal c X : E P (fun w => c * X w) = c * E P X.
Proof. unfold E. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.
Lemma E_zero : E P (fun _ => 0) = 0.
Proof. unfold E. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero by (intros; ring). reflexivity. Qed.
Lemma E_one : E P (fun _ => 1) = 1.
Proof. unfold E. rewrite (sum_ext _ _ (weight P)) by (intros; ring). apply weight_total. Qed.
Lemma E_const c : E P (fun _ => c) = c.
Proof. rewrite (E_ext _ (fun _ => c * 1)) by (intros; ring). rewrite E_scal, E_one. ring. Qed.
Lemma E_le X Y : (forall w, (w < outcomes P)%nat -> X w <= Y w) -> E P X <= E P Y.
Proof. intros H. apply sum_le. intros w Hw. apply Rmult_le_compat_l; [apply weight_nonneg|apply H, Hw]. Qed.
Lemma E_nonneg X : (forall w, (w < outcomes P)%nat -> 0 <= X w) -> 0 <= E P X.
Proof. intros H. rewrite <- E_zero. apply E_le, H. Qed.
Lemma E_sum n (X : nat -> nat -> R) : E P (fun w => sum n (fun i => X i w)) = sum n (fun i => E P (fun w => X i w)).
Proof.
  unfold E. rewrite sum_swap. apply sum_ext. intros. rewrite <- sum_scal. reflexivity.
Qed.
Lemma E_mean n (X : nat -> nat -> R) : E P (fun w => mean n (fun i => X i w)) = mean n (fun i => E P (fun w => X i w)).
Proof. unfold mean. rewrite <- E_sum, <- E_scal. reflexivity. Qed.
End Expectation.

(* --- real inner product spaces ------------------------------------------------------------------------------------ *)

Record space := {
  vector :> Type;
  zero : vector;
  add : vector -> vector -> vector;
  scal : R -> vector -> vector;
  ip : vector -> vector -> R;
  add_comm : forall u v, add u v = add v u;
  add_assoc : forall u v w, add u (add v w) = add (add u v) w;
  add_zero : forall u, add u zero = u;
  scal_one : forall u, scal 1 u = u;
  scal_zero : forall u, scal 0 u = zero;
  scal_mult : forall a b u, scal a (scal b u) = scal (a * b) u;
  scal_add_r : forall a u v, scal a (add u v) = add (scal a u) (scal a v);
  scal_add_l : forall a b u, scal (a + b) u = add (scal a u) (scal b u);
  ip_comm : forall u v, ip u v = ip v u;
  ip_add : forall u v w, ip (add u v) w = ip u w + ip v w;
  ip_scal : forall a u v, ip (scal a u) v = a * ip u v;
  ip_nonneg : forall u, 0 <= ip u u;
  ip_definite : forall u, ip u u = 0 -> u = zero }.

Arguments zero {_}.
Arguments add {_} _ _.
Arguments scal {_} _ _.
Arguments ip {_} _ _.

Definition sub {V : space} (u v : V) : V := add u (scal (-1) v).
Definition norm2 {V : space} (u : V) : R := ip u u.
Definition norm {V : space} (u : V) : R := sqrt (norm2 u).
Fixpoint vsum {V : space} (n : nat) (f : nat -> V) : V := match n with O => zero | S m => add (vsum m f) (f m) end.
Definition vmean {V : space} (n : nat) (f : nat -> V) : V := scal (/ INR n) (vsum n f).

Section Vectors.
Context {V : space}.
Implicit Types u v w : V.
Lemma ip_add_r u v w : ip w (add u v) = ip w u + ip w v.
Proof. rewrite !(ip_comm V w). apply ip_add. Qed.
Lemma ip_scal_r a u v : ip v (scal a u) = a * ip v u.
Proof. rewrite !(ip_comm V v). apply ip_scal. Qed.
Lemma ip_sub_l u v w : ip (sub u v) w = ip u w - ip v w.
Proof. unfold sub. rewrite ip_add, ip_scal. ring. Qed.
Lemma ip_sub_r u v w : ip w (sub u v) = ip w u - ip w v.
Proof. unfold sub. rewrite ip_add_r, ip_scal_r. ring. Qed.
Lemma ip_zero_l u : ip zero u = 0.
Proof. rewrite <- (scal_zero V u), ip_scal. ring. Qed.
Lemma ip_zero_r u : ip u zero = 0.
Proof. rewrite ip_comm. apply ip_zero_l. Qed.
Lemma ip_add_l u v w : ip (add u v) w = ip u w + ip v w.
Proof. apply ip_add. Qed.
Lemma ip_scal_l a u v : ip (scal a u) v = a * ip u v.
Proof. apply ip_scal. Qed.
Lemma ip_eq_l {u v} (H : u = v) w : ip u w = ip v w.
Proof. rewrite H. reflexivity. Qed.
Lemma ip_eq_r {u v} (H : u = v) w : ip w u = ip w v.
Proof. rewrite H. reflexivity. Qed.
Lemma ip_vsum_l n (f : nat -> V) u : ip (vsum n f) u = sum n (fun i => ip (f i) u).
Proof. induction n as [|n IH]; simpl; [apply ip_zero_l|]. rewrite ip_add, IH. reflexivity. Qed.
Lemma ip_vsum_r n (f : nat -> V) u : ip u (vsum n f) = sum n (fun i => ip u (f i)).
Proof. rewrite ip_comm, ip_vsum_l. apply sum_ext. intros. apply ip_comm. Qed.
Lemma ip_vmean_l n (f : nat -> V) u : ip (vmean n f) u = mean n (fun i => ip (f i) u).
Proof. unfold vmean, mean. rewrite ip_scal, ip_vsum_l. reflexivity. Qed.
Lemma ip_vmean_r n (f : nat -> V) u : ip u (vmean n f) = mean n (fun i => ip u (f i)).
Proof. unfold vmean, mean. rewrite ip_scal_r, ip_vsum_r. reflexivity. Qed.
Lemma norm2_nonneg u : 0 <= norm2 u.
Proof. apply ip_nonneg. Qed.
Lemma norm_nonneg u : 0 <= norm u.
Proof. apply sqrt_pos. Qed.
Lemma norm_sq u : norm u * norm u = norm2 u.
Proof. apply sqrt_sqrt, norm2_nonneg. Qed.
Lemma sub_zero u v : sub u v = zero -> u = v.
Proof.
  unfold sub. intros H.
  assert (Z : add (scal (-1) v) v = zero).
  { rewrite <- (scal_one V v) at 2. rewrite <- scal_add_l. replace (-1 + 1) with 0 by ring. apply scal_zero. }
  rewrite <- (add_zero V u), <- Z, add_assoc, H, add_comm. apply add_zero.
Qed.
(* Vectors are equal when their difference has length 0. *)
Lemma vector_eq u v : norm2 (sub u v) = 0 -> u = v.
Proof. intros H. apply sub_zero, ip_definite, H. Qed.
(* Vectors are equal when their inner products with all vectors are. *)
Lemma vector_ext u v : (forall w, ip u w = ip v w) -> u = v.
Proof. intros H. apply vector_eq. unfold norm2. rewrite ip_sub_l, H. ring. Qed.
Lemma vector_le u v : norm2 (sub u v) <= 0 -> u = v.
Proof. intros H. apply vector_eq. pose proof (norm2_nonneg (sub u v)). lra. Qed.
Lemma vsum_ext n (f g : nat -> V) : (forall i, (i < n)%nat -> f i = g i) -> vsum n f = vsum n g.
Proof. induction n as [|n IH]; intros H; simpl; [reflexivity|]. rewrite IH, H by (intros; try apply H; lia). reflexivity. Qed.
Lemma vmean_ext n (f g : nat -> V) : (forall i, (i < n)%nat -> f i = g i) -> vmean n f = vmean n g.
Proof. intros H. unfold vmean. rewrite (vsum_ext n f g H). reflexivity. Qed.
Lemma cauchy u v : (ip u v) * (ip u v) <= norm2 u * norm2 v.
Proof.
  destruct (Req_dec (norm2 v) 0) as [Z|Z].
  - apply ip_definite in Z. subst v. rewrite ip_zero_r. unfold norm2. rewrite ip_zero_r. lra.
  - pose proof (norm2_nonneg (sub (scal (norm2 v) u) (scal (ip u v) v))) as H.
    pose proof (norm2_nonneg v) as Pv. unfold norm2 in *.
    rewrite !ip_sub_l, !ip_sub_r, !ip_scal, !ip_scal_r, (ip_comm V v u) in H.
    apply (Rmult_le_reg_l (ip v v)); [lra|]. lra.
Qed.
Lemma ip_le_norm u v : ip u v <= norm u * norm v.
Proof.
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; apply norm_nonneg].
  pose proof (cauchy u v). unfold Rsqr. pose proof (norm_sq u) as A. pose proof (norm_sq v) as B.
  replace (norm u * norm v * (norm u * norm v)) with ((norm u * norm u) * (norm v * norm v)) by ring.
  rewrite A, B. exact H.
Qed.
Lemma norm_triangle u v : norm (add u v) <= norm u + norm v.
Proof.
  apply Rsqr_incr_0_var; [|pose proof (norm_nonneg u); pose proof (norm_nonneg v); lra].
  unfold Rsqr. rewrite norm_sq. unfold norm2. rewrite ip_add, !ip_add_r, (ip_comm V v u).
  pose proof (ip_le_norm u v) as H. pose proof (norm_sq u) as A. pose proof (norm_sq v) as B. unfold norm2 in A, B. lra.
Qed.
Lemma norm2_vmean n (f : nat -> V) : (1 <= n)%nat -> norm2 (vmean n f) <= mean n (fun i => norm2 (f i)).
Proof.
  intros P. set (m := vmean n f).
  assert (H : 0 <= mean n (fun i => norm2 (sub (f i) m))) by (apply mean_nonneg; [exact P|intros; apply norm2_nonneg]).
  rewrite (mean_ext n _ (fun i => -2 * ip (f i) m + (1 * norm2 (f i) + norm2 m))) in H
    by (intros i _; unfold norm2; rewrite !ip_sub_l, !ip_sub_r, (ip_comm V m (f i)); ring).
  rewrite !mean_lin, mean_const in H by exact P.
  rewrite <- ip_vmean_l in H. fold m in H. unfold norm2 in *. lra.
Qed.
End Vectors.

(* --- functions with gradients, and what is assumed of them -------------------------------------------------------- *)

(* G is the gradient of F: the derivative along every line. *)
Definition gradient {V : space} (F : V -> R) (G : V -> V) : Prop :=
  forall x v, derivable_pt_lim (fun t => F (add x (scal t v))) 0 (ip (G x) v).
Definition smooth {V : space} (G : V -> V) (L : R) : Prop :=
  forall x y, norm2 (sub (G x) (G y)) <= L * L * norm2 (sub x y).
Definition convex {V : space} (F : V -> R) : Prop :=
  forall x y t, 0 <= t <= 1 -> F (add (scal t x) (scal (1 - t) y)) <= t * F x + (1 - t) * F y.
Definition strongly_convex {V : space} (F : V -> R) (mu : R) : Prop := convex (fun x => F x - mu / 2 * norm2 x).
Definition lipschitz {V : space} (F : V -> R) (C : R) : Prop := forall x y, Rabs (F x - F y) <= C * norm (sub x y).

Ltac vectors := apply vector_ext; let w := fresh "w" in intros w; unfold sub, vmean;
  rewrite ?ip_add, ?ip_scal, ?ip_add, ?ip_scal, ?ip_add, ?ip_scal, ?ip_add, ?ip_scal, ?ip_zero_l.
Ltac inner := unfold norm2, sub in *;
  repeat first [rewrite ip_add in * | rewrite ip_add_r in * | rewrite ip_scal in * | rewrite ip_scal_r in *].

Section Functions.
Context {V : space}.
Implicit Types (F : V -> R) (G : V -> V) (x y z v : V).

Lemma along F G x v t : gradient F G ->
  derivable_pt_lim (fun s => F (add x (scal s v))) t (ip (G (add x (scal t v))) v).
Proof.
  intros H eps He. destruct (H (add x (scal t v)) v eps He) as [del Hd]. exists del. intros h Hh Hs.
  specialize (Hd h Hh Hs).
  replace (add (add x (scal t v)) (scal (0 + h) v)) with (add x (scal (t + h) v)) in Hd by (vectors; ring).
  replace (add (add x (scal t v)) (scal 0 v)) with (add x (scal t v)) in Hd by (vectors; ring).
  exact Hd.
Qed.

Lemma smooth_above F G L : 0 < L -> gradient F G -> smooth G L ->
  forall x y, F y <= F x + ip (G x) (sub y x) + L / 2 * norm2 (sub y x).
Proof.
  intros HL HG HS x y. set (d := sub y x).
  pose (g := fun t => F (add x (scal t d)) - (t * ip (G x) d + L / 2 * norm2 d * (t * t))).
  pose (g' := fun t => ip (G (add x (scal t d))) d - (1 * ip (G x) d + L / 2 * norm2 d * (1 * t + t * 1))).
  assert (D : forall c, 0 <= c <= 1 -> derivable_pt_lim g c (g' c)).
  { intros c _. unfold g, g'. apply derivable_pt_lim_minus; [apply along, HG|].
    apply derivable_pt_lim_plus.
    - replace (1 * ip (G x) d) with (1 * ip (G x) d + c * 0) by ring.
      apply (derivable_pt_lim_mult (fun t => t) (fun _ => ip (G x) d)).
      + apply derivable_pt_lim_id.
      + apply derivable_pt_lim_const.
    - replace (L / 2 * norm2 d * (1 * c + c * 1)) with (0 * (c * c) + L / 2 * norm2 d * (1 * c + c * 1)) by ring.
      apply (derivable_pt_lim_mult (fun _ => L / 2 * norm2 d) (fun t => t * t)).
      + apply derivable_pt_lim_const.
      + apply (derivable_pt_lim_mult (fun t => t) (fun t => t)); apply derivable_pt_lim_id. }
  destruct (MVT_cor2 g g' 0 1 Rlt_0_1 D) as [c [Hc [C0 C1]]].
  assert (B : g' c <= 0).
  { unfold g'. pose proof (HS (add x (scal c d)) x) as Q.
    replace (sub (add x (scal c d)) x) with (scal c d) in Q by (vectors; ring).
    set (gc := sub (G (add x (scal c d))) (G x)) in *.
    assert (W : norm gc <= L * c * norm d).
    { apply Rsqr_incr_0_var.
      - unfold Rsqr. rewrite norm_sq.
        replace (L * c * norm d * (L * c * norm d)) with (L * L * (c * c * (norm d * norm d))) by ring.
        rewrite norm_sq. unfold norm2 in *. rewrite ip_scal, ip_scal_r in Q. lra.
      - apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply norm_nonneg]. }
    pose proof (ip_le_norm gc d) as Cd. unfold gc in Cd at 1. rewrite ip_sub_l in Cd.
    assert (norm gc * norm d <= L * c * norm d * norm d) by (apply Rmult_le_compat_r; [apply norm_nonneg|exact W]).
    pose proof (norm_sq d). replace (L * c * norm d * norm d) with (L * c * (norm d * norm d)) in * by ring.
    rewrite H0 in H. lra. }
  unfold g in Hc.
  replace (add x (scal 1 d)) with y in Hc by (unfold d; vectors; ring).
  replace (add x (scal 0 d)) with x in Hc by (vectors; ring).
  lra.
Qed.

Lemma smooth_below F G L : 0 < L -> gradient F G -> smooth G L ->
  forall x y, F x + ip (G x) (sub y x) - L / 2 * norm2 (sub y x) <= F y.
Proof.
  intros HL HG HS x y.
  assert (A := smooth_above (fun x => - F x) (fun x => scal (-1) (G x)) L HL).
  assert (HG' : gradient (fun x => - F x) (fun x => scal (-1) (G x))).
  { intros u v. rewrite ip_scal. replace (-1 * ip (G u) v) with (- ip (G u) v) by ring.
    apply (derivable_pt_lim_opp (fun t => F (add u (scal t v)))), HG. }
  assert (HS' : smooth (fun x => scal (-1) (G x)) L).
  { intros u v. specialize (HS u v).
    replace (norm2 (sub (scal (-1) (G u)) (scal (-1) (G v)))) with (norm2 (sub (G u) (G v))); [exact HS|].
    inner. ring. }
  specialize (A HG' HS' x y). cbv beta in A. rewrite ip_scal in A. lra.
Qed.

Lemma convex_first F G : gradient F G -> convex F -> forall x y, F x + ip (G x) (sub y x) <= F y.
Proof.
  intros HG HC x y. destruct (Rle_or_lt (F x + ip (G x) (sub y x)) (F y)) as [H|H]; [exact H|exfalso].
  set (l := ip (G x) (sub y x)) in *.
  destruct (HG x (sub y x) (F x + l - F y)) as [del Hd]; [lra|].
  pose proof (cond_pos del) as Pd.
  set (h := Rmin (del / 2) 1).
  assert (h0 : 0 < h) by (unfold h; apply Rmin_glb_lt; lra).
  assert (h1 : h <= 1) by apply Rmin_r.
  assert (h2 : h < del) by (pose proof (Rmin_l (del / 2) 1); unfold h; lra).
  specialize (Hd h (Rgt_not_eq _ _ h0)). rewrite (Rabs_right h) in Hd by lra. specialize (Hd h2).
  replace (add x (scal (0 + h) (sub y x))) with (add (scal h y) (scal (1 - h) x)) in Hd by (vectors; ring).
  replace (add x (scal 0 (sub y x))) with x in Hd by (vectors; ring).
  specialize (HC y x h (conj (Rlt_le _ _ h0) h1)).
  apply Rabs_def2 in Hd. destruct Hd as [_ Hd]. fold l in Hd.
  assert (Q : F y - F x < (F (add (scal h y) (scal (1 - h) x)) - F x) / h) by lra.
  apply (Rmult_lt_compat_r h) in Q; [|exact h0].
  unfold Rdiv in Q. rewrite Rmult_assoc, Rinv_l in Q by lra. lra.
Qed.

Lemma strong_first F G mu : gradient F G -> strongly_convex F mu ->
  forall x y, F x + ip (G x) (sub y x) + mu / 2 * norm2 (sub y x) <= F y.
Proof.
  intros HG HC x y.
  assert (HG' : gradient (fun x => F x - mu / 2 * norm2 x) (fun x => sub (G x) (scal mu x))).
  { intros u v. rewrite ip_sub_l, ip_scal. apply derivable_pt_lim_minus; [apply HG|].
    replace (mu * ip u v) with (0 * norm2 (add u (scal 0 v)) + mu / 2 * (0 + (1 * (2 * ip u v) + 0 * 0 + norm2 v * (1 * 0 + 0 * 1)))) by field.
    apply (derivable_pt_lim_mult (fun _ => mu / 2) (fun t => norm2 (add u (scal t v)))); [apply derivable_pt_lim_const|].
    assert (Q : derivable_pt_lim (fun t => norm2 u + (t * (2 * ip u v) + norm2 v * (t * t))) 0
      (0 + (1 * (2 * ip u v) + 0 * 0 + norm2 v * (1 * 0 + 0 * 1)))).
    { apply (derivable_pt_lim_plus (fun _ => norm2 u)); [apply derivable_pt_lim_const|].
      apply (derivable_pt_lim_plus (fun t => t * (2 * ip u v)) (fun t => norm2 v * (t * t))).
      - apply (derivable_pt_lim_mult (fun t => t) (fun _ => 2 * ip u v)); [apply derivable_pt_lim_id|apply derivable_pt_lim_const].
      - replace (norm2 v * (1 * 0 + 0 * 1)) with (0 * (0 * 0) + norm2 v * (1 * 0 + 0 * 1)) by ring.
        apply (derivable_pt_lim_mult (fun _ => norm2 v) (fun t => t * t)); [apply derivable_pt_lim_const|].
        apply (derivable_pt_lim_mult (fun t => t) (fun t => t)); apply derivable_pt_lim_id. }
    intros eps He. destruct (Q eps He) as [del Hd]. exists del. intros h Hh Hs. specialize (Hd h Hh Hs).
    replace (norm2 (add u (scal (0 + h) v))) with (norm2 u + ((0 + h) * (2 * ip u v) + norm2 v * ((0 + h) * (0 + h))))
      by (inner; rewrite (ip_comm V v u); ring).
    replace (norm2 (add u (scal 0 v))) with (norm2 u + (0 * (2 * ip u v) + norm2 v * (0 * 0)))
      by (inner; rewrite (ip_comm V v u); ring).
    exact Hd. }
  pose proof (convex_first _ _ HG' HC x y) as Q. cbv beta in Q.
  inner. rewrite (ip_comm V y x) in *. lra.
Qed.

Lemma smooth_convex F G L : 0 < L -> gradient F G -> smooth G L -> convex F ->
  forall x y, F y + ip (G y) (sub x y) + norm2 (sub (G x) (G y)) / (2 * L) <= F x.
Proof.
  intros HL HG HS HC x y. set (z := sub x (scal (/ L) (sub (G x) (G y)))).
  pose proof (smooth_above F G L HL HG HS x z) as A. pose proof (convex_first F G HG HC y z) as B.
  apply Rplus_le_reg_r with (ip (G x) (sub z x) + L / 2 * norm2 (sub z x)).
  apply Rle_trans with (F z); [|lra]. apply Rle_trans with (2 := B). right. unfold z. clear - HL. inner.
  rewrite ?(ip_comm V (G y) (G x)), ?(ip_comm V x (G y)), ?(ip_comm V x (G x)). field. lra.
Qed.

Lemma smooth_points F G L : 0 < L -> gradient F G -> smooth G L ->
  forall x y, F y - L / 4 * norm2 (sub x y) + ip (add (G x) (G y)) (sub x y) / 2 + norm2 (sub (G x) (G y)) / (4 * L) <= F x.
Proof.
  intros HL HG HS x y. set (z := sub (scal (/ 2) (add x y)) (scal (/ (2 * L)) (sub (G x) (G y)))).
  pose proof (smooth_above F G L HL HG HS x z) as A. pose proof (smooth_below F G L HL HG HS y z) as B.
  apply Rplus_le_reg_r with (ip (G x) (sub z x) + L / 2 * norm2 (sub z x)).
  apply Rle_trans with (F z); [|lra]. apply Rle_trans with (2 := B). right. unfold z. clear - HL. inner.
  rewrite ?(ip_comm V (G y) (G x)), ?(ip_comm V x (G y)), ?(ip_comm V x (G x)), ?(ip_comm V y (G y)),
    ?(ip_comm V y (G x)), ?(ip_comm V y x). field. lra.
Qed.

Lemma smooth_strong F G L mu : 0 < L -> 0 < mu -> gradient F G -> smooth G L -> strongly_convex F mu ->
  forall x y, norm2 (sub (G x) (G y)) + mu * L * norm2 (sub x y) - 2 * mu * ip (sub (G x) (G y)) (sub x y)
    <= 2 * (L - mu) * (F x - F y - ip (G y) (sub x y)).
Proof.
  intros HL Hmu HG HS HC x y.
  pose proof (smooth_above F G L HL HG HS) as A. pose proof (strong_first F G mu HG HC) as B.
  destruct (Rtotal_order mu L) as [H|[H|H]].
  - set (z := sub x (scal (/ (L - mu)) (sub (sub (G x) (G y)) (scal mu (sub x y))))).
    specialize (A x z). specialize (B y z).
    apply Rmult_le_reg_l with (/ (2 * (L - mu))); [apply Rinv_0_lt_compat; lra|].
    rewrite <- (Rmult_assoc (/ (2 * (L - mu)))), Rinv_l, Rmult_1_l by lra.
    apply Rplus_le_reg_r with (F y + ip (G y) (sub x y) + ip (G x) (sub z x) + L / 2 * norm2 (sub z x)).
    apply Rle_trans with (F z); [|lra]. apply Rle_trans with (2 := B). right. unfold z. clear - H. inner.
    rewrite ?(ip_comm V (G y) (G x)), ?(ip_comm V x (G y)), ?(ip_comm V x (G x)), ?(ip_comm V y (G y)),
      ?(ip_comm V y (G x)), ?(ip_comm V y x). field. lra.
  - subst mu. set (w := sub (sub (G x) (G y)) (scal L (sub x y))).
    set (C := F x - F y - ip (G y) (sub x y) - L / 2 * norm2 (sub x y)).
    assert (K : forall s, s * norm2 w <= C).
    { intros s. specialize (A x (sub x (scal s w))). specialize (B y (sub x (scal s w))).
      assert (I : ip (sub (G x) (G y)) w - L * ip (sub x y) w = norm2 w).
      { unfold norm2. rewrite <- ip_scal, <- ip_sub_l. reflexivity. }
      rewrite <- I. unfold C. clearbody w. clear - A B. inner.
      rewrite ?(ip_comm V w x), ?(ip_comm V w y), ?(ip_comm V y x) in *. lra. }
    assert (Z : norm2 w = 0).
    { destruct (Req_dec (norm2 w) 0) as [Z|Z]; [exact Z|exfalso].
      specialize (K ((C + 1) / norm2 w)). unfold Rdiv in K. rewrite Rmult_assoc, Rinv_l in K by exact Z. lra. }
    replace (2 * (L - L)) with 0 by ring. rewrite Rmult_0_l. right. rewrite <- Z. unfold w. clear. inner.
    rewrite ?(ip_comm V (G y) (G x)), ?(ip_comm V x (G y)), ?(ip_comm V x (G x)), ?(ip_comm V y (G y)),
      ?(ip_comm V y (G x)), ?(ip_comm V y x). ring.
  - assert (x = y).
    { apply vector_eq. pose proof (norm2_nonneg (sub x y)) as N0. specialize (A y x). specialize (B y x).
      assert (Q : (mu - L) * norm2 (sub x y) <= 0) by lra.
      destruct N0 as [N0|N0]; [|lra]. pose proof (Rmult_lt_0_compat (mu - L) _ ltac:(lra) N0). lra. }
    subst y. right. inner. ring.
Qed.

Lemma lipschitz_bounded F G C : 0 < C -> gradient F G -> lipschitz F C -> forall x, norm2 (G x) <= C * C.
Proof.
  intros HC HG HL x.
  assert (Q : norm2 (G x) <= C * norm (G x)).
  { destruct (Rle_or_lt (norm2 (G x)) (C * norm (G x))) as [H|H]; [exact H|exfalso].
    destruct (HG x (G x) (norm2 (G x) - C * norm (G x))) as [del Hd]; [lra|].
    pose proof (cond_pos del) as Pd. set (h := del / 2). assert (h0 : 0 < h) by (unfold h; lra).
    specialize (Hd h (Rgt_not_eq _ _ h0)). rewrite (Rabs_right h) in Hd by lra.
    specialize (Hd ltac:(unfold h; lra)). apply Rabs_def2 in Hd. destruct Hd as [_ Hd].
    specialize (HL (add x (scal (0 + h) (G x))) (add x (scal 0 (G x)))).
    replace (sub (add x (scal (0 + h) (G x))) (add x (scal 0 (G x)))) with (scal h (G x)) in HL by (vectors; ring).
    assert (N : norm (scal h (G x)) = h * norm (G x)).
    { unfold norm, norm2. rewrite ip_scal, ip_scal_r, <- Rmult_assoc, sqrt_mult, sqrt_square; try lra.
      - apply Rle_0_sqr. - apply ip_nonneg. }
    rewrite N in HL. fold (norm2 (G x)) in Hd.
    pose proof (Rle_abs (F (add x (scal (0 + h) (G x))) - F (add x (scal 0 (G x))))) as A.
    set (D := F (add x (scal (0 + h) (G x))) - F (add x (scal 0 (G x)))) in *.
    assert (B : C * norm (G x) < D / h) by lra.
    apply (Rmult_lt_compat_r h) in B; [|exact h0]. unfold Rdiv in B. rewrite (Rmult_assoc D), Rinv_l in B by lra. lra. }
  rewrite <- norm_sq in *. destruct (norm_nonneg (G x)) as [N|N]; [|rewrite <- N; pose proof (Rle_0_sqr C); unfold Rsqr in *; lra].
  assert (norm (G x) <= C) by (apply Rmult_le_reg_r with (norm (G x)); assumption).
  apply Rmult_le_compat; lra.
Qed.

Lemma curvature F G L mu x : 0 < L -> gradient F G -> smooth G L -> strongly_convex F mu -> norm2 x = 1 -> mu <= L.
Proof.
  intros HL HG HS HC H. pose proof (smooth_above F G L HL HG HS zero x) as A.
  pose proof (strong_first F G mu HG HC zero x) as B. replace (sub x zero) with x in * by (vectors; ring). rewrite H in *. lra.
Qed.

Lemma minimiser_zero F G x : gradient F G -> (forall y, F x <= F y) -> forall v, ip (G x) v = 0.
Proof.
  intros HG HM. assert (A : forall v, 0 <= ip (G x) v).
  { intros v. destruct (Rle_or_lt 0 (ip (G x) v)) as [H|H]; [exact H|exfalso].
    destruct (HG x v (- ip (G x) v)) as [del Hd]; [lra|]. pose proof (cond_pos del) as Pd.
    set (h := del / 2). assert (h0 : 0 < h) by (unfold h; lra).
    specialize (Hd h (Rgt_not_eq _ _ h0)). rewrite (Rabs_right h) in Hd by lra.
    specialize (Hd ltac:(unfold h; lra)). apply Rabs_def2 in Hd. destruct Hd as [Hd _].
    replace (add x (scal 0 v)) with x in Hd by (vectors; ring).
    specialize (HM (add x (scal (0 + h) v))).
    assert (B : (F (add x (scal (0 + h) v)) - F x) / h < 0) by lra.
    apply (Rmult_lt_compat_r h) in B; [|exact h0]. unfold Rdiv in B. rewrite Rmult_assoc, Rinv_l in B by lra. lra. }
  intros v. pose proof (A v) as P. pose proof (A (scal (-1) v)) as Q. rewrite ip_scal_r in Q. lra.
Qed.

(* Means of functions. *)
Lemma gradient_mean n (F : nat -> V -> R) (G : nat -> V -> V) : (forall i, (i < n)%nat -> gradient (F i) (G i)) ->
  gradient (fun x => mean n (fun i => F i x)) (fun x => vmean n (fun i => G i x)).
Proof.
  intros H x v. rewrite ip_vmean_l. unfold mean.
  replace (/ INR n * sum n (fun i => ip (G i x) v)) with
    (0 * sum n (fun i => F i (add x (scal 0 v))) + / INR n * sum n (fun i => ip (G i x) v)) by ring.
  apply (derivable_pt_lim_mult (fun _ => / INR n) (fun t => sum n (fun i => F i (add x (scal t v)))));
    [apply derivable_pt_lim_const|].
  induction n as [|n IH]; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (fun t => sum n (fun i => F i (add x (scal t v)))) (fun t => F n (add x (scal t v)))).
  - apply IH. intros. apply H. lia.
  - apply H. lia.
Qed.
Lemma smooth_mean n (G : nat -> V -> V) L : (1 <= n)%nat -> (forall i, (i < n)%nat -> smooth (G i) L) ->
  smooth (fun x => vmean n (fun i => G i x)) L.
Proof.
  intros P H x y.
  replace (sub (vmean n (fun i => G i x)) (vmean n (fun i => G i y))) with (vmean n (fun i => sub (G i x) (G i y))).
  - apply Rle_trans with (1 := norm2_vmean n _ P).
    rewrite <- (mean_const n (L * L * norm2 (sub x y)) P). apply mean_le; [exact P|]. intros i Hi. apply H, Hi.
  - apply vector_ext. intros w. rewrite ip_sub_l, !ip_vmean_l.
    rewrite (mean_ext n _ (fun i => -1 * ip (G i y) w + ip (G i x) w)) by (intros; rewrite ip_sub_l; ring).
    rewrite mean_lin. ring.
Qed.
Lemma convex_mean n (F : nat -> V -> R) : (1 <= n)%nat -> (forall i, (i < n)%nat -> convex (F i)) ->
  convex (fun x => mean n (fun i => F i x)).
Proof.
  intros P H x y t Ht. rewrite <- !mean_scal.
  replace (mean n (fun i => t * F i x) + mean n (fun i => (1 - t) * F i y))
    with (mean n (fun i => t * F i x + (1 - t) * F i y)) by (rewrite mean_lin, !mean_scal; reflexivity).
  apply mean_le; [exact P|]. intros i Hi. apply H; assumption.
Qed.
Lemma strong_mean n (F : nat -> V -> R) mu : (1 <= n)%nat -> (forall i, (i < n)%nat -> strongly_convex (F i) mu) ->
  strongly_convex (fun x => mean n (fun i => F i x)) mu.
Proof.
  intros P H x y t Ht. pose proof (convex_mean n (fun i x => F i x - mu / 2 * norm2 x) P H x y t Ht) as Q. cbv beta in Q.
  assert (R0 : forall z, mean n (fun i => F i z - mu / 2 * norm2 z) = mean n (fun i => F i z) - mu / 2 * norm2 z).
  { intros z. rewrite (mean_ext n _ (fun i => -1 * (mu / 2 * norm2 z) + F i z)) by (intros; ring).
    rewrite mean_lin, mean_const by exact P. ring. }
  rewrite !R0 in Q. exact Q.
Qed.
End Functions.

(* --- what generated scripts call ---------------------------------------------------------------------------------- *)

Lemma outcomes_pos P : (0 < outcomes P)%nat.
Proof.
  destruct (outcomes P) as [|n] eqn:H; [|lia]. pose proof (weight_total P) as W. rewrite H in W. simpl in W. lra.
Qed.
Lemma E_swap (P Q : chances) (X : nat -> nat -> R) :
  E P (fun v => E Q (fun w => X v w)) = E Q (fun w => E P (fun v => X v w)).
Proof.
  rewrite (E_ext P _ (fun v => sum (outcomes Q) (fun w => weight Q w * X v w))) by reflexivity.
  rewrite E_sum. unfold E at 2. apply sum_ext. intros. rewrite E_scal. reflexivity.
Qed.
(* A sum of multiples of sequences, and what is linear in each; inner products of sums of multiples of vectors. *)
Module Linear.
Fixpoint chain (l : list (R * (nat -> R))) (i : nat) : R :=
  match l with nil => 0 | cons (c, f) r => c * f i + chain r i end.
Fixpoint over (S : (nat -> R) -> R) (l : list (R * (nat -> R))) : R :=
  match l with nil => 0 | cons (c, f) r => c * S f + over S r end.
Lemma of_sum n l : sum n (chain l) = over (sum n) l.
Proof.
  induction l as [|[c f] r IH]; [exact (sum_zero n)|]. cbn [over]. rewrite <- IH. exact (sum_lin n c f (chain r)).
Qed.
Lemma of_mean n l : mean n (chain l) = over (mean n) l.
Proof.
  induction l as [|[c f] r IH]; [exact (mean_zero n)|]. cbn [over]. rewrite <- IH. exact (mean_lin n c f (chain r)).
Qed.
Lemma of_E P l : E P (chain l) = over (E P) l.
Proof.
  induction l as [|[c f] r IH]; [exact (E_zero P)|]. cbn [over]. rewrite <- IH. exact (E_lin P c f (chain r)).
Qed.
End Linear.
Inductive span {V : space} :=
| Sv (v : V) | Sw (v : V) | Su (v w : V) (H : v = w) | S0 | Sa (p q : span) | Ss (p q : span) | Sm (c : R) (p : span).
Module Span.
Section Spans.
Context {V : space}.
Fixpoint vector (p : @span V) : V :=
  match p with
  | Sv v => v | Sw v => v | Su v _ _ => v | S0 => zero
  | Sa a b => add (vector a) (vector b) | Ss a b => sub (vector a) (vector b) | Sm c a => scal c (vector a) end.
Fixpoint right (v : V) (p : @span V) : R :=
  match p with
  | Sv w => ip v w | Sw w => ip v w | Su _ w _ => ip v w | S0 => 0
  | Sa a b => right v a + right v b | Ss a b => right v a - right v b | Sm c a => c * right v a end.
(* Sw and Su are not opened further: what is beside them is left as it is. *)
Fixpoint both (p q : @span V) : R :=
  match p with
  | Sv v => right v q | Sw v => ip v (vector q) | Su _ w _ => ip w (vector q) | S0 => 0
  | Sa a b => both a q + both b q | Ss a b => both a q - both b q | Sm c a => c * both a q end.
Lemma of_right v p : ip v (vector p) = right v p.
Proof.
  induction p as [w|w|u w H| |a IHa b IHb|a IHa b IHb|c a IH]; simpl; try reflexivity.
  - rewrite H. reflexivity.
  - apply ip_zero_r.
  - rewrite ip_add_r, IHa, IHb. reflexivity.
  - rewrite ip_sub_r, IHa, IHb. reflexivity.
  - rewrite ip_scal_r, IH. reflexivity.
Qed.
Lemma of_both p q : ip (vector p) (vector q) = both p q.
Proof.
  induction p as [w|w|u w H| |a IHa b IHb|a IHa b IHb|c a IH]; simpl; try reflexivity.
  - apply of_right.
  - rewrite H. reflexivity.
  - apply ip_zero_l.
  - rewrite ip_add_l, IHa, IHb. reflexivity.
  - rewrite ip_sub_l, IHa, IHb. reflexivity.
  - rewrite ip_scal_l, IH. reflexivity.
Qed.
End Spans.
End Span.
Lemma pow_less b d n m : (d + m = n)%nat -> b <> 0 -> b ^ d = b ^ n * / b ^ m.
Proof. intros <- B. rewrite pow_add. field. apply pow_nonzero, B. Qed.
Lemma sum_is_mean n f : (1 <= n)%nat -> sum n f = INR n * mean n f.
Proof. intros H. unfold mean. field. apply INR_neq, H. Qed.
Lemma close_le l r d : r - l - d = 0 -> 0 <= d -> l <= r.
Proof. lra. Qed.
Lemma close_lt l r d : r - l - d = 0 -> 0 < d -> l < r.
Proof. lra. Qed.
Lemma close_eq l r d : r - l - d = 0 -> d = 0 -> l = r.
Proof. lra. Qed.

(* Coordinates: sums over two of them of what is 0 where they differ, and inner products. *)
Lemma sum_diagonal n (X : nat -> nat -> R) (Y : nat -> R) :
  (forall c e, (c < n)%nat -> (e < n)%nat -> c <> e -> X c e = 0) -> (forall c, (c < n)%nat -> X c c = Y c) ->
  sum n (fun c => sum n (fun e => X c e)) = sum n (fun c => Y c).
Proof.
  intros A B. apply sum_ext. intros c Hc. rewrite <- (B c Hc). rewrite <- (sum_at n c (fun e => X c e) Hc).
  apply sum_ext. intros e He. destruct (Nat.eqb_spec e c) as [->|D]; [reflexivity|].
  apply A; try assumption. intros Q. apply D. symmetry. exact Q.
Qed.
Lemma parseval {V : space} d (basis : nat -> V) : (forall v, vsum d (fun c => scal (ip v (basis c)) (basis c)) = v) ->
  forall r u v, sum d (fun c => r * (ip u (basis c) * ip v (basis c))) = r * ip u v.
Proof.
  intros H r u v. rewrite sum_scal. f_equal.
  transitivity (ip (vsum d (fun c => scal (ip u (basis c)) (basis c))) v); [|rewrite H; reflexivity].
  rewrite ip_vsum_l. apply sum_ext. intros c _.
  rewrite ip_scal_l, (ip_comm V (basis c) v). reflexivity.
Qed.
Lemma mean_of_total n f s : sum n f = s -> mean n f = s / INR n.
Proof. intros H. unfold mean. rewrite H. unfold Rdiv. apply Rmult_comm. Qed.
Lemma mean_of_one n f : n = 1%nat -> mean n f = f 0%nat.
Proof. intros ->. unfold mean. simpl. field. Qed.
Lemma E_plus P X Y : E P (fun w => X w + Y w) = E P X + E P Y.
Proof. replace (E P X) with (1 * E P X) by ring. rewrite <- E_lin. apply E_ext. intros. ring. Qed.
Lemma uncorrelated {V : space} n (P : chances) (D : nat -> nat -> V) :
  (forall i j, (i < j)%nat -> (j < n)%nat -> E P (fun w => ip (D i w) (D j w)) = 0) ->
  E P (fun w => norm2 (vsum n (fun i => D i w))) = sum n (fun i => E P (fun w => norm2 (D i w))).
Proof.
  induction n as [|n IH]; intros H.
  - simpl. transitivity (E P (fun _ => 0)); [apply E_ext; intros; unfold norm2; apply ip_zero_l|].
    transitivity (0 * E P (fun _ => 1)); [|ring]. rewrite <- E_scal. apply E_ext. intros. ring.
  - simpl. rewrite <- IH by (intros; apply H; lia).
    transitivity (E P (fun w => norm2 (vsum n (fun i => D i w))) + 2 * E P (fun w => ip (vsum n (fun i => D i w)) (D n w)) +
      E P (fun w => norm2 (D n w))).
    + rewrite <- E_scal, <- !E_plus. apply E_ext. intros w _. unfold norm2.
      rewrite ip_add_l, !ip_add_r, (ip_comm _ (D n w)). ring.
    + enough (Z : E P (fun w => ip (vsum n (fun i => D i w)) (D n w)) = 0) by (rewrite Z; ring).
      transitivity (sum n (fun i => E P (fun w => ip (D i w) (D n w)))).
      * rewrite <- E_sum. apply E_ext. intros w _. apply ip_vsum_l.
      * transitivity (sum n (fun _ => 0)); [|apply sum_zero]. apply sum_ext. intros i L. apply H; lia.
Qed.
(* Sums that telescope. *)
Lemma sum_telescope n f : sum n (fun i => f (S i) - f i) = f n - f 0%nat.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma vsum_telescope {V : space} n (f : nat -> V) :
  norm2 (sub (vsum n (fun i => sub (f (S i)) (f i))) (sub (f n) (f 0%nat))) <= 0.
Proof.
  right. assert (H : vsum n (fun i => sub (f (S i)) (f i)) = sub (f n) (f 0%nat)).
  { apply vector_ext. intros u. rewrite ip_vsum_l, ip_sub_l.
    rewrite <- (sum_telescope n (fun i => ip (f i) u)). apply sum_ext. intros. apply ip_sub_l. }
  rewrite H. unfold norm2. rewrite !ip_sub_l. ring.
Qed.
Lemma carried_total {V : space} n (f g : nat -> V) : (forall i, (i < n)%nat -> f (S i) = add (f i) (g i)) ->
  f n = add (f 0%nat) (vsum n g).
Proof.
  intros H. apply vector_ext. intros u. rewrite ip_add_l, ip_vsum_l.
  transitivity (ip (f 0%nat) u + (ip (f n) u - ip (f 0%nat) u)); [lra|].
  f_equal. rewrite <- (sum_telescope n (fun i => ip (f i) u)). apply sum_ext. intros i Hi.
  rewrite H by exact Hi. rewrite ip_add_l. lra.
Qed.
Lemma before_one x : 1 <= x -> Rmax 0 (Rmin 1 x) = 1.
Proof. intros H. rewrite Rmin_left by lra. apply Rmax_right. lra. Qed.
Lemma before_none x : x <= 0 -> Rmax 0 (Rmin 1 x) = 0.
Proof. intros H. rewrite Rmin_right by lra. apply Rmax_left. lra. Qed.
Lemma before_later m n : (m <= n)%nat -> Rmax 0 (Rmin 1 (INR m - INR n)) = 0.
Proof. intros H. apply before_none. apply le_INR in H. lra. Qed.
Lemma before_sooner m n : (n < m)%nat -> Rmax 0 (Rmin 1 (INR m - INR n)) = 1.
Proof. intros H. apply before_one. apply le_INR in H. rewrite S_INR in H. lra. Qed.
Lemma sum_until m n f : (m <= n)%nat -> sum n (fun i => Rmax 0 (Rmin 1 (INR m - INR i)) * f i) = sum m f.
Proof.
  induction 1 as [|n H IH].
  - apply sum_ext. intros i Hi. rewrite before_sooner by exact Hi. ring.
  - simpl. rewrite IH, before_later by exact H. ring.
Qed.
Lemma sum_before m n f : (m <= n)%nat ->
  sum n (fun i => Rmax 0 (Rmin 1 (INR m - INR i)) * (f (S i) - f i)) = f m - f 0%nat.
Proof. intros H. rewrite (sum_until m n (fun i => f (S i) - f i) H). apply sum_telescope. Qed.
Lemma lexicographic S M s m (e : nat -> nat -> R) : (Datatypes.S s <= S)%nat -> (m <= M)%nat ->
  sum S (fun h => sum M (fun j => Rmax 0 (Rmin 1 (INR s * INR M + INR m - INR h * INR M - INR j)) * e h j)) =
  sum S (fun h => Rmax 0 (Rmin 1 (INR s - INR h)) * sum M (fun j => e h j)) +
  sum M (fun j => Rmax 0 (Rmin 1 (INR m - INR j)) * e s j).
Proof.
  intros Hs Hm. pose (last := sum M (fun j => Rmax 0 (Rmin 1 (INR m - INR j)) * e s j)). fold last.
  transitivity (sum S (fun h => Rmax 0 (Rmin 1 (INR s - INR h)) * sum M (fun j => e h j) +
    (if Nat.eqb h s then (fun _ => last) h else 0))).
  2: { rewrite sum_plus, (sum_at S s (fun _ => last)) by exact Hs. reflexivity. }
  apply sum_ext. intros h Hh. destruct (Nat.eqb_spec h s) as [->|D].
  - rewrite before_later by lia. rewrite Rmult_0_l, Rplus_0_l. apply sum_ext. intros j _.
    replace (INR s * INR M + INR m - INR s * INR M - INR j) with (INR m - INR j) by ring. reflexivity.
  - destruct (Nat.lt_ge_cases h s) as [L|L].
    + rewrite before_sooner by exact L. rewrite Rmult_1_l, Rplus_0_r. apply sum_ext. intros j Hj.
      rewrite before_one; [ring|]. apply le_INR in L, Hj. rewrite S_INR in L, Hj.
      pose proof (pos_INR m). pose proof (pos_INR M).
      assert (0 <= (INR s - INR h - 1) * INR M) by (apply Rmult_le_pos; lra). lra.
    + rewrite before_later by exact L. rewrite Rmult_0_l, Rplus_0_r.
      transitivity (sum M (fun _ => 0)); [|apply sum_zero]. apply sum_ext. intros j Hj.
      rewrite before_none; [ring|]. assert (L2 : (Datatypes.S s <= h)%nat) by lia.
      apply le_INR in L2, Hm. rewrite S_INR in L2. pose proof (pos_INR j). pose proof (pos_INR M).
      assert (0 <= (INR h - INR s - 1) * INR M) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma tail_factor j h : Rmax 0 (Rmin 1 (INR h + 1 - INR j)) = if Nat.leb j h then 1 else 0.
Proof.
  destruct (Nat.leb_spec j h) as [L|L].
  - apply before_one. apply le_INR in L. lra.
  - apply before_none. apply le_INR in L. rewrite S_INR in L. lra.
Qed.
Lemma tail_whole n f : sum n (fun h => Rmax 0 (Rmin 1 (INR h + 1 - INR 0)) * f h) = sum n (fun h => f h).
Proof. apply sum_ext. intros h _. rewrite tail_factor. simpl. ring. Qed.
Lemma tail_none n f : sum n (fun h => Rmax 0 (Rmin 1 (INR h + 1 - INR n)) * f h) = 0.
Proof.
  transitivity (sum n (fun _ => 0)); [|apply sum_zero]. apply sum_ext. intros h Hh. rewrite tail_factor.
  destruct (Nat.leb_spec n h); [lia|ring].
Qed.
Lemma tail_step n j f : (j < n)%nat ->
  sum n (fun h => Rmax 0 (Rmin 1 (INR h + 1 - INR j)) * f h) -
  sum n (fun h => Rmax 0 (Rmin 1 (INR h + 1 - INR (S j))) * f h) = f j.
Proof.
  intros H. rewrite <- (sum_at n j f H).
  assert (E : forall g k, sum n (fun i => g i) - sum n (fun i => k i) = sum n (fun i => (-1) * k i + g i)).
  { intros g k. rewrite (sum_lin n (-1) k g). change (sum n g - sum n k = (-1) * sum n k + sum n g). ring. }
  rewrite E. apply sum_ext. intros h _. rewrite !tail_factor.
  destruct (Nat.leb_spec j h), (Nat.leb_spec (S j) h), (Nat.eqb_spec h j); try lia; ring.
Qed.
(* Powers, and the logarithm. *)
Lemma bernoulli e n : 0 <= 1 + e -> 1 + INR n * e <= (1 + e) ^ n.
Proof.
  intros H. destruct (Rle_or_lt 0 e) as [P|P].
  - induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. simpl pow.
    assert (0 <= e * e) by apply Rle_0_sqr. pose proof (pos_INR n).
    assert (0 <= INR n * (e * e)) by (apply Rmult_le_pos; assumption).
    assert ((1 + e) * (1 + INR n * e) <= (1 + e) * (1 + e) ^ n) by (apply Rmult_le_compat_l; lra). lra.
  - induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. simpl pow.
    assert (0 <= e * e) by apply Rle_0_sqr. pose proof (pos_INR n).
    assert (0 <= INR n * (e * e)) by (apply Rmult_le_pos; assumption).
    assert ((1 + e) * (1 + INR n * e) <= (1 + e) * (1 + e) ^ n) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma pow_shrinks b m n : 0 <= b -> b <= 1 -> (m <= n)%nat -> b ^ n <= b ^ m.
Proof.
  intros P Q. induction 1 as [|n H IH]; [lra|]. simpl.
  assert (0 <= b ^ n) by (apply pow_le; exact P). assert (0 <= (1 - b) * b ^ n) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma ln_below x : 0 < x -> ln x <= x - 1.
Proof. intros H. pose proof (exp_ineq1_le (ln x)) as E. rewrite (exp_ln x H) in E. lra. Qed.
(* Sums: weighted ones of vectors, parts, norms. *)
Lemma jensen_sum {V : space} n (w : nat -> R) (v : nat -> V) : (forall i, (i < n)%nat -> 0 <= w i) ->
  norm2 (vsum n (fun i => scal (w i) (v i))) <= sum n (fun i => w i) * sum n (fun i => w i * norm2 (v i)).
Proof.
  induction n as [|n IH]; intros H; [simpl; unfold norm2; rewrite ip_zero_l; lra|].
  assert (A : 0 <= w n) by (apply H; lia). assert (B := IH (fun i Hi => H i (Nat.lt_lt_succ_r _ _ Hi))). simpl.
  set (u := vsum n (fun i => scal (w i) (v i))) in *. set (a := sum n (fun i => w i)) in *.
  set (q := sum n (fun i => w i * norm2 (v i))) in *.
  assert (P : 0 <= a) by (apply sum_nonneg; intros; apply H; lia).
  assert (Q : 0 <= q) by (apply sum_nonneg; intros; apply Rmult_le_pos; [apply H; lia|apply norm2_nonneg]).
  unfold norm2. rewrite ip_add_l, !ip_add_r, !ip_scal_l, !ip_scal_r. rewrite (ip_comm V (v n) u).
  fold (norm2 u). fold (norm2 (v n)).
  enough (C : 2 * ip u (v n) <= a * norm2 (v n) + q).
  { assert (w n * (2 * ip u (v n)) <= w n * (a * norm2 (v n) + q)) by (apply Rmult_le_compat_l; assumption). lra. }
  destruct (Rle_lt_or_eq_dec 0 a P) as [a_pos|a_zero].
  - assert (D : 0 <= norm2 (sub u (scal a (v n)))) by apply norm2_nonneg. unfold norm2 in D.
    rewrite !ip_sub_l, !ip_sub_r, !ip_scal_l, !ip_scal_r, (ip_comm V (v n) u) in D. fold (norm2 u) in D. fold (norm2 (v n)) in D.
    assert (a * (2 * ip u (v n)) <= a * (a * norm2 (v n) + q)) by lra. apply (Rmult_le_reg_l a); [exact a_pos|assumption].
  - assert (Z : norm2 u <= 0) by (rewrite <- a_zero in B; lra). assert (U : u = zero).
    { apply vector_le. unfold norm2. rewrite !ip_sub_l, !ip_sub_r, !ip_zero_l, !ip_zero_r. fold (norm2 u). lra. }
    rewrite U, ip_zero_l, <- a_zero. lra.
Qed.
Lemma jensen_mean {V : space} n (w : nat -> R) (v : nat -> V) : (forall i, (i < n)%nat -> 0 <= w i) ->
  norm2 (vmean n (fun i => scal (w i) (v i))) <= mean n (fun i => w i) * mean n (fun i => w i * norm2 (v i)).
Proof.
  intros H. pose proof (jensen_sum n w v H) as J. unfold vmean, mean, norm2 at 1. rewrite ip_scal_l, ip_scal_r.
  fold (norm2 (vsum n (fun i => scal (w i) (v i)))).
  apply (Rmult_le_compat_l (/ INR n * / INR n)) in J; [lra|apply Rle_0_sqr].
Qed.
Lemma sum_part n f m : (forall i, (i < n)%nat -> 0 <= f i) -> (m < n)%nat -> f m <= sum n f.
Proof.
  intros H L. rewrite <- (sum_at n m f L). apply sum_le. intros i Hi. destruct (Nat.eqb i m); [lra|apply H, Hi].
Qed.
Lemma norm_zero_le {V : space} : norm (zero : V) <= 0.
Proof. unfold norm, norm2. rewrite ip_zero_l, sqrt_0. lra. Qed.
Lemma norm_vsum {V : space} n (f : nat -> V) : norm (vsum n f) <= sum n (fun i => norm (f i)).
Proof.
  induction n as [|n IH]; simpl; [apply norm_zero_le|]. pose proof (norm_triangle (vsum n f) (f n)). lra.
Qed.

(* The largest and the least of f 0, ..., f (n - 1). *)
Fixpoint maxi (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => match m with O => f O | S _ => Rmax (maxi m f) (f m) end end.
Fixpoint mini (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => match m with O => f O | S _ => Rmin (mini m f) (f m) end end.
Lemma maxi_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> maxi n f = maxi n g.
Proof.
  induction n as [|[|n] IH]; intros H; [reflexivity|apply H; lia|].
  change (Rmax (maxi (S n) f) (f (S n)) = Rmax (maxi (S n) g) (g (S n))). rewrite IH, H by (intros; try apply H; lia). reflexivity.
Qed.
Lemma mini_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> mini n f = mini n g.
Proof.
  induction n as [|[|n] IH]; intros H; [reflexivity|apply H; lia|].
  change (Rmin (mini (S n) f) (f (S n)) = Rmin (mini (S n) g) (g (S n))). rewrite IH, H by (intros; try apply H; lia). reflexivity.
Qed.
Lemma maxi_le n f i : (i < n)%nat -> f i <= maxi n f.
Proof.
  induction n as [|[|n] IH]; intros H; [lia|replace i with 0%nat by lia; apply Rle_refl|].
  change (f i <= Rmax (maxi (S n) f) (f (S n))). destruct (Nat.eq_dec i (S n)) as [->|D]; [apply Rmax_r|].
  apply Rle_trans with (maxi (S n) f); [apply IH; lia|apply Rmax_l].
Qed.
Lemma maxi_lub n f m : (1 <= n)%nat -> (forall i, (i < n)%nat -> f i <= m) -> maxi n f <= m.
Proof.
  induction n as [|[|n] IH]; intros L H; [lia|apply H; lia|].
  change (Rmax (maxi (S n) f) (f (S n)) <= m). apply Rmax_lub; [apply IH; [lia|intros; apply H; lia]|apply H; lia].
Qed.
Lemma mini_le n f i : (i < n)%nat -> mini n f <= f i.
Proof.
  induction n as [|[|n] IH]; intros H; [lia|replace i with 0%nat by lia; apply Rle_refl|].
  change (Rmin (mini (S n) f) (f (S n)) <= f i). destruct (Nat.eq_dec i (S n)) as [->|D]; [apply Rmin_r|].
  apply Rle_trans with (mini (S n) f); [apply Rmin_l|apply IH; lia].
Qed.
Lemma maxi_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= maxi n f.
Proof.
  destruct n as [|n]; intros H; [apply Rle_refl|]. apply Rle_trans with (f 0%nat); [apply H; lia|apply maxi_le; lia].
Qed.

Ltac counts := first [assumption | lia
  | match goal with H : forall n, _ -> (1 <= _ n)%nat |- _ => apply H; first [assumption | lia] end].
Ltac positive := first [assumption | apply INR_pos; counts | lra
  | match goal with H : forall n, _ -> 0 < _ n |- _ => apply H; first [assumption | lia] end
  | match goal with H : forall n, 0 < _ n |- _ => apply H end | apply pow_lt; positive
  | apply Rdiv_lt_0_compat; positive | apply Rmult_lt_0_compat; positive].
Ltac nonzero := first [assumption | apply INR_neq; counts | apply Rgt_not_eq; unfold Rgt; positive | apply pow_nonzero; nonzero
  | match goal with H : ?d <> 0 |- _ => let Z := fresh in intro Z; apply H; lra end
  | match goal with H : ?d <> 0 |- _ =>
      let Z := fresh in intro Z; apply H; field_simplify_eq; [lra | repeat split; assumption] end].
Ltac inverses := unfold Rdiv; rewrite ?Rinv_mult, <- ?pow_inv; first [ring | lra].
Ltac inverse_powers := rewrite ?pow_add, ?pow_mult, ?Rinv_mult, ?pow_inv; ring.
Ltac powers := rewrite ?pow_add, ?pow_mult; simpl pow; first [ring | field; repeat split; nonzero].

Lemma scaled_le c l r : l <= r -> 0 <= c -> 0 <= c * (r - l).
Proof. intros. apply Rmult_le_pos; lra. Qed.
Lemma scaled_lt c l r : l < r -> 0 < c -> 0 < c * (r - l).
Proof. intros. apply Rmult_lt_0_compat; lra. Qed.
Lemma scaled_lt_le c l r : l < r -> 0 <= c -> 0 <= c * (r - l).
Proof. intros. apply Rmult_le_pos; lra. Qed.
Lemma scaled_eq c l r : l = r -> 0 <= c * (r - l).
Proof. intros ->. right. ring. Qed.
Lemma part_le t l r : 0 <= t -> l <= r -> 0 <= t * (r - l).
Proof. intros. apply Rmult_le_pos; lra. Qed.
Lemma part_lt_le t l r : 0 <= t -> l < r -> 0 <= t * (r - l).
Proof. intros. apply Rmult_le_pos; lra. Qed.
Lemma part_lt t l r : 0 < t -> l < r -> 0 < t * (r - l).
Proof. intros. apply Rmult_lt_0_compat; lra. Qed.
Lemma part_eq t l r : l = r -> t * (r - l) = 0.
Proof. intros ->. ring. Qed.
Lemma part_eq_le t l r : l = r -> 0 <= t * (r - l).
Proof. intros ->. right. ring. Qed.
Lemma from_nat (m : nat) (Q : nat -> Prop) : Q m -> (forall k, (m <= k)%nat -> Q k -> Q (S k)) -> forall k, (m <= k)%nat -> Q k.
Proof. intros B H k Hk. induction Hk; [exact B|]. apply H; assumption. Qed.
Lemma sum_eq_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext n f (fun _ => 0) H). apply sum_zero. Qed.
Lemma mean_eq_zero n f : (forall i, (i < n)%nat -> f i = 0) -> mean n f = 0.
Proof. intros H. rewrite (mean_ext n f (fun _ => 0) H). apply mean_zero. Qed.
Lemma E_eq_zero P X : (forall w, (w < outcomes P)%nat -> X w = 0) -> E P X = 0.
Proof. intros H. rewrite (E_ext P X (fun _ => 0) H). apply E_zero. Qed.
Lemma pow_even_nonneg x n : 0 <= x ^ (2 * n).
Proof. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.
(* Means over two clients, or over two places in a batch: of different ones, and of the same. *)
Lemma two_apart N (X Y : nat -> nat -> R) (Z : nat -> R) :
  (1 <= N)%nat ->
  (forall n m, (n < N)%nat -> (m < N)%nat -> n <> m -> X n m = Y n m) ->
  (forall n, (n < N)%nat -> X n n = Z n) ->
  mean N (fun n => mean N (fun m => X n m)) =
  mean N (fun n => mean N (fun m => Y n m)) + / INR N * (mean N (fun n => Z n) - mean N (fun n => Y n n)).
Proof.
  intros HN H1 H2.
  rewrite (mean_ext N _ (fun n => 1 * mean N (fun m => Y n m) + / INR N * (Z n - Y n n))).
  - rewrite (mean_lin N 1 (fun n => mean N (fun m => Y n m)) (fun n => / INR N * (Z n - Y n n))).
    rewrite (mean_scal N (/ INR N) (fun n => Z n - Y n n)).
    rewrite (mean_ext N (fun n => Z n - Y n n) (fun n => (-1) * Y n n + Z n)) by (intros; ring).
    rewrite (mean_lin N (-1) (fun n => Y n n) (fun n => Z n)). ring.
  - intros n Hn.
    rewrite (mean_ext N _ (fun m => 1 * Y n m + (if Nat.eqb m n then (fun m => Z n - Y n m) m else 0))).
    + rewrite (mean_lin N 1 (fun m => Y n m) (fun m => if Nat.eqb m n then Z n - Y n m else 0)).
      assert (A : mean N (fun m => if Nat.eqb m n then (fun m => Z n - Y n m) m else 0) = / INR N * (Z n - Y n n)).
      { unfold mean. rewrite (sum_at N n (fun m => Z n - Y n m) Hn). reflexivity. }
      cbv beta in A. rewrite A. ring.
    + intros m Hm. destruct (Nat.eqb_spec m n) as [->|D].
      * rewrite H2 by exact Hn. ring.
      * rewrite H1 by (try assumption; intros Q; apply D; symmetry; exact Q). ring.
Qed.
Lemma least_is_infimum {V : space} (f : V -> R) (low : R) (x : V) :
  (forall v, low <= f v) -> (forall eps, 0 < eps -> exists v, f v < low + eps) -> (forall v, f x <= f v) -> f x = low.
Proof.
  intros A B H. apply Rle_antisym; [|apply A]. destruct (Rle_or_lt (f x) low) as [Q|Q]; [exact Q|exfalso].
  destruct (B (f x - low)) as [v Hv]; [lra|]. specialize (H v). lra.
Qed.
Lemma norm_bounded {V : space} (u : V) C : 0 < C -> norm u <= C -> norm2 u <= C * C.
Proof. intros HC H. rewrite <- norm_sq. apply Rmult_le_compat; try exact H; apply norm_nonneg. Qed.
Lemma one_le_INR n : (1 <= n)%nat -> 1 <= INR n.
Proof. intros H. apply (le_INR 1 n H). Qed.
Lemma root_le a b : a * a <= b * b -> 0 <= b -> a <= b.
Proof. intros H B. apply Rsqr_incr_0_var; assumption. Qed.
Lemma root_eq a b : a * a = b * b -> 0 <= b -> 0 <= a -> a = b.
Proof. intros H B A. apply Rle_antisym; apply root_le; lra. Qed.
Lemma sqrt_scaled r a b : 0 <= r -> a = r * r * b -> sqrt a = r * sqrt b.
Proof. intros R H. rewrite H, sqrt_mult_alt, sqrt_square; [reflexivity|exact R|apply Rle_0_sqr]. Qed.
Lemma inv_sqrt a : 0 < a -> / sqrt a = sqrt a * / a.
Proof.
  intros A. assert (S : 0 < sqrt a) by (apply sqrt_lt_R0, A). assert (Q : sqrt a * sqrt a = a) by (apply sqrt_sqrt; lra).
  rewrite <- Q at 3. field. lra.
Qed.
Lemma ip_null {V : space} (u v : V) : norm2 u <= 0 -> ip u v = 0.
Proof.
  intros H. assert (Z : u = zero) by (apply ip_definite, Rle_antisym; [exact H|apply ip_nonneg]).
  rewrite Z. apply ip_zero_l.
Qed.
Lemma strong_is_convex {V : space} (F : V -> R) mu : 0 < mu -> strongly_convex F mu -> convex F.
Proof.
  intros Hmu H x y t Ht. specialize (H x y t Ht). cbv beta in H.
  assert (Q : norm2 (add (scal t x) (scal (1 - t) y)) = t * norm2 x + (1 - t) * norm2 y - t * (1 - t) * norm2 (sub x y)).
  { unfold norm2, sub. rewrite !ip_add_l, !ip_add_r, !ip_scal_l, !ip_scal_r, (ip_comm V y x). ring. }
  rewrite Q in H. pose proof (norm2_nonneg (sub x y)) as N0.
  assert (0 <= mu / 2 * (t * (1 - t) * norm2 (sub x y))).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact N0]. }
  lra.
Qed.
Lemma Rminus_lt_0_rev d : 0 < 0 - d -> d < 0.
Proof. lra. Qed.
Lemma flip_sq c : c = 0 \/ c = 1 -> c * c = c.
Proof. intros [-> | ->]; ring. Qed.
Definition vE {V : space} (P : chances) (X : nat -> V) : V := vsum (outcomes P) (fun w => scal (weight P w) (X w)).
Lemma ip_vE_l {V : space} (P : chances) (X : nat -> V) u : ip (vE P X) u = E P (fun w => ip (X w) u).
Proof. unfold vE, E. rewrite ip_vsum_l. apply sum_ext. intros. apply ip_scal. Qed.
Lemma ip_vE_r {V : space} (P : chances) (X : nat -> V) u : ip u (vE P X) = E P (fun w => ip u (X w)).
Proof. rewrite ip_comm, ip_vE_l. apply E_ext. intros. apply ip_comm. Qed.
Lemma one_client n : (1 <= n)%nat -> 0 <= 1 - INR n -> n = 1%nat.
Proof. intros H L. apply Nat.le_antisymm; [|exact H]. apply INR_le. simpl. lra. Qed.
Ltac unrolled := first [reflexivity | cbn [sum]; repeat first [reflexivity | lia | progress f_equal]].
(* A line whose exponents are written otherwise. *)
Ltac same H := first [exact H
  | erewrite sum_ext; [exact H | intros; cbv beta; repeat first [reflexivity | lia | progress f_equal]]
  | let T := type of H in match goal with |- ?G => let E := fresh in
      assert (E : T = G) by (repeat first [reflexivity | lia | progress f_equal]); rewrite <- E; exact H end].
Ltac side := first [assumption | lia | apply INR_le; rewrite ?S_INR; lra | apply INR_lt; rewrite ?S_INR; lra].

(* --- an instance: the real line, half the square, one client, one sample, one outcome ----------------------------- *)

Definition line : space.
Proof.
  refine {| vector := R; zero := 0; add := Rplus; scal := Rmult; ip := Rmult |}; intros; try ring.
  - apply Rle_0_sqr.
  - apply Rsqr_0_uniq, H.
Defined.
Definition half_square (x : line) : R := (x * x) / 2.
Definition itself (x : line) : line := x.
Lemma half_square_gradient : gradient half_square itself.
Proof.
  intros x v. unfold half_square, itself. simpl.
  replace (x * v) with ((0 + (1 * v + 0 * 0)) * (x + 0 * v) * / 2 + ((x + 0 * v) * (0 + (1 * v + 0 * 0))) * / 2) by field.
  intros eps He. exists (mkposreal (eps / (1 + v * v)) ltac:(apply Rdiv_lt_0_compat; [exact He|pose proof (Rle_0_sqr v); unfold Rsqr in *; lra])).
  intros h H0 Hh. simpl in Hh. pose proof (Rle_0_sqr v) as V2. unfold Rsqr in V2.
  replace (((x + (0 + h) * v) * (x + (0 + h) * v) / 2 - (x + 0 * v) * (x + 0 * v) / 2) / h -
    ((0 + (1 * v + 0 * 0)) * (x + 0 * v) * / 2 + (x + 0 * v) * (0 + (1 * v + 0 * 0)) * / 2)) with (h * (v * v / 2)) by (field; exact H0).
  rewrite Rabs_mult, (Rabs_right (v * v / 2)) by lra.
  apply Rle_lt_trans with (Rabs h * (1 + v * v)).
  - apply Rmult_le_compat_l; [apply Rabs_pos|lra].
  - apply (Rmult_lt_compat_r (1 + v * v)) in Hh; [|lra]. unfold Rdiv in Hh. rewrite Rmult_assoc, Rinv_l in Hh by lra. lra.
Qed.
Lemma itself_smooth L : 1 <= L -> smooth itself L.
Proof.
  intros H x y. unfold itself, norm2, sub. simpl.
  pose proof (Rle_0_sqr (x + -1 * y)) as Q. unfold Rsqr in Q.
  assert (1 * ((x + -1 * y) * (x + -1 * y)) <= L * L * ((x + -1 * y) * (x + -1 * y))).
  { apply Rmult_le_compat_r; [exact Q|]. replace 1 with (1 * 1) by ring. apply Rmult_le_compat; lra. }
  lra.
Qed.
Lemma half_square_strong mu : mu <= 1 -> strongly_convex half_square mu.
Proof.
  intros H x y t Ht. unfold half_square, norm2. simpl.
  pose proof (Rle_0_sqr (x - y)) as Q. unfold Rsqr in Q.
  assert (0 <= (1 - mu) / 2 * (t * (1 - t) * ((x - y) * (x - y)))).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact Q]. }
  lra.
Qed.
Lemma half_square_convex : convex half_square.
Proof.
  intros x y t Ht. pose proof (half_square_strong 0 ltac:(lra) x y t Ht) as Q. cbv beta in Q. lra.
Qed.
Lemma half_square_pl mu x : 0 < mu <= 1 -> 2 * mu * (half_square x - 0) <= norm2 (itself x).
Proof.
  intros H. unfold half_square, norm2, itself. simpl. pose proof (Rle_0_sqr x) as Q. unfold Rsqr in Q.
  assert (0 <= (1 - mu) * (x * x)) by (apply Rmult_le_pos; lra). lra.
Qed.
Definition certain : chances.
Proof. refine {| outcomes := 1; weight := fun _ => 1 |}; [intros; lra|simpl; ring]. Defined.
Lemma mean_single f : mean 1 f = f 0%nat.
Proof. unfold mean. simpl. field. Qed.
Lemma vmean_single {V : space} (f : nat -> V) : vmean 1 f = f 0%nat.
Proof. apply vector_ext. intros u. rewrite ip_vmean_l. apply mean_single. Qed.
Lemma E_certain X : E certain X = X 0%nat.
Proof. unfold E. simpl. ring. Qed.
Ltac instance :=
  intros; rewrite ?mean_single;
  first [ lia | reflexivity | apply half_square_gradient | apply itself_smooth; lra | apply half_square_strong; lra
    | apply half_square_convex
    | apply smooth_mean; [lia | intros; instance] | apply convex_mean; [lia | intros; instance]
    | apply strong_mean; [lia | intros; instance]
    | rewrite !E_certain, ?mean_single; reflexivity
    | rewrite !E_certain, ?mean_single; simpl INR; first [ring | field]
    | right; reflexivity
    | match goal with |- @eq _ ?u _ => change u with (0 : R); unfold sub, vmean, itself; simpl; field end
    | split; [lra | intros; rewrite ?mean_single; apply half_square_pl; lra]
    | rewrite ?mean_single, ?vmean_single; apply half_square_pl; lra
    | exists 0; rewrite ?mean_single; unfold half_square; simpl; lra
    | unfold half_square, norm2; simpl;
      first [ lra
        | match goal with |- context [?x * ?x] => is_var x; pose proof (Rle_0_sqr x) end; unfold Rsqr in *; lra
        | exists 0; lra ]
    | rewrite ?mean_single, ?vmean_single; unfold itself, norm2; simpl;
      match goal with |- context [?x * ?x] => is_var x; pose proof (Rle_0_sqr x) end; unfold Rsqr in *; lra
    | rewrite ?sqrt_1; unfold Rdiv; simpl; rewrite ?Rinv_mult; lra
    | match goal with |- norm2 ?u <= _ =>
        replace u with (0 : vector line) by (unfold sub, vmean, itself; simpl; field); unfold norm2; simpl; lra end ].
